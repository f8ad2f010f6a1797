// What a network looked at: weights of tokens, of words, and links.
#include "attend/explain/alignment.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "attend/attention/observe.h"
#include "attend/decode/search.h"
#include "attend/models/zoo.h"
#include "tests/support/message.h"

namespace attend::explain {
namespace {

using test::message_of;

constexpr double kWeightsTolerance = sizeof(real) == 8 ? 1e-9 : 1e-5;

struct Attending {
  std::string model;
  Settings settings;
};

std::vector<Attending> attending() {
  const Settings recurrent{{"embedding", "6"}, {"hidden", "8"}};
  const Settings transformer{{"size", "8"},           {"heads", "2"},          {"hidden", "12"},
                             {"encoder_layers", "1"}, {"decoder_layers", "2"}, {"dropout", "0"}};
  Settings after = recurrent, heads = recurrent;
  after["decoder.query"] = "after";
  heads["attention.heads"] = "2", heads["attention.score"] = "general";
  return {{"recurrent", recurrent}, {"recurrent", after}, {"recurrent", heads}, {"transformer", transformer}};
}

std::unique_ptr<models::Model> make(const Attending& variant) {
  Settings settings = variant.settings;
  settings["source_vocabulary"] = settings["target_vocabulary"] = "9";
  Random random(5);
  return models::make_model(variant.model, settings, random);
}

const std::vector<std::vector<int32_t>> kPairSources{{4, 5, 6, 7}, {8, 4}, {6}}, kTargets{{7, 6}, {4, 8, 5, 5}, {5}};

data::Batch all() { return {data::Sequences(kPairSources), data::Sequences(kTargets)}; }
data::Batch alone(size_t b) {
  return {data::Sequences(std::vector(1, kPairSources[b])), data::Sequences(std::vector(1, kTargets[b]))};
}

void expect_weights(const Tensor& got, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got.data()[i], expected.data()[i], kWeightsTolerance) << what;
}

TEST(MemoryWeights, AreThoseOfModelsThatAttend) {
  for (const Attending& variant : attending()) EXPECT_TRUE(attends_to_source(*make(variant))) << variant.model;
  const Settings fixed{{"embedding", "6"}, {"hidden", "8"}, {"decoder.input", "every_step"}};
  EXPECT_FALSE(attends_to_source(*make({"recurrent", fixed})));
}

TEST(MemoryWeights, RowsSumToOne) {
  for (const Attending& variant : attending()) {
    const std::vector<Tensor> weights = memory_weights(*make(variant), all());
    ASSERT_EQ(weights.size(), 3u);
    for (size_t b = 0; b < weights.size(); ++b) {
      ASSERT_EQ(weights[b].shape(),
                Shape({static_cast<int64_t>(kTargets[b].size()), static_cast<int64_t>(kPairSources[b].size())}));
      for (int64_t t = 0; t < weights[b].dim(0); ++t) {
        double sum = 0;
        for (int64_t s = 0; s < weights[b].dim(1); ++s) sum += weights[b].data()[t * weights[b].dim(1) + s];
        EXPECT_NEAR(sum, 1, kWeightsTolerance) << variant.model;
      }
    }
  }
}

TEST(MemoryWeights, APaddedBatchIsEachSentenceAlone) {
  for (const Attending& variant : attending()) {
    const auto model = make(variant);
    const std::vector<Tensor> together = memory_weights(*model, all());
    for (size_t b = 0; b < together.size(); ++b) {
      expect_weights(together[b], memory_weights(*model, alone(b)).at(0), variant.model);
    }
  }
}

/// Mean over heads and layers of the weights reported for each step of a single sentence.
struct Steps : Sink {
  std::map<int64_t, std::vector<double>> sums;
  std::map<int64_t, double> reports;
  void observe(const Observation& o) override {
    if (!o.site.ends_with(".memory")) return;
    ASSERT_EQ(o.weights.dim(0), 1);
    ASSERT_EQ(o.weights.dim(2), 1);
    const int64_t keys = o.weights.dim(3);
    sums[o.step].resize(static_cast<size_t>(keys), 0);
    for (int64_t h = 0; h < o.weights.dim(1); ++h) {
      for (int64_t k = 0; k < keys; ++k) sums[o.step][static_cast<size_t>(k)] += o.weights.data()[h * keys + k];
      reports[o.step] += 1;
    }
  }
};

TEST(MemoryWeights, AreWhatIsSeenStepByStep) {
  for (const Attending& variant : attending()) {
    const auto model = make(variant);
    for (size_t b = 0; b < kPairSources.size(); ++b) {
      Steps steps;
      {
        const Observing observing(steps);
        decode::score(*model, alone(b));
      }
      ASSERT_EQ(steps.sums.size(), kTargets[b].size() + 1) << "the end, too";
      Tensor expected({static_cast<int64_t>(kTargets[b].size()), static_cast<int64_t>(kPairSources[b].size())});
      for (size_t t = 0; t < kTargets[b].size(); ++t) {
        for (size_t s = 0; s < kPairSources[b].size(); ++s) {
          const int64_t step = static_cast<int64_t>(t);
          expected.data()[t * kPairSources[b].size() + s] = static_cast<real>(steps.sums[step][s] / steps.reports[step]);
        }
      }
      expect_weights(memory_weights(*model, alone(b)).at(0), expected, variant.model);
    }
  }
}

TEST(MemoryWeights, AnEmptyAnswerHasNoRows) {
  const auto model = make(attending()[0]);
  const data::Batch batch{data::Sequences({{4, 5}, {6, 7, 8}}), data::Sequences({{}, {4}})};
  const std::vector<Tensor> weights = memory_weights(*model, batch);
  EXPECT_EQ(weights.at(0).shape(), Shape({0, 2}));
  EXPECT_EQ(weights.at(1).shape(), Shape({1, 3}));
}

TEST(MemoryWeights, AModelThatDoesNotAttendIsRefused) {
  const auto model = make({"recurrent", {{"embedding", "4"}, {"hidden", "4"}, {"decoder.input", "every_step"}}});
  EXPECT_NE(message_of([&] { memory_weights(*model, all()); }).find("attends to its source"), std::string::npos);
}

TEST(WordWeights, SumOverSourceTokensAndAverageOverTargetTokens) {
  // Target words 0 (two tokens) and 1; source words 0, 1 (two tokens); a source and a target token belong to none.
  const Tensor weights = Tensor::of({4, 4}, {0.1, 0.2, 0.3, 0.4,  //
                                             0.3, 0.4, 0.1, 0.2,  //
                                             0.0, 0.5, 0.5, 0.0,  //
                                             1.0, 0.0, 0.0, 0.0});
  const int32_t source[] = {0, 1, 1, -1}, target[] = {0, 0, 1, -1};
  expect_weights(word_weights(weights, source, target, 2, 2), Tensor::of({2, 2}, {0.2, 0.5, 0, 1}), "two words");
  expect_weights(word_weights(weights, source, target, 3, 3), Tensor::of({3, 3}, {0.2, 0.5, 0, 0, 1, 0, 0, 0, 0}),
                 "words without tokens");
}

TEST(WordWeights, WhatDoesNotFitIsRefused) {
  const Tensor weights = Tensor::zeros({1, 2});
  const int32_t two[] = {0, 1}, one[] = {0}, far[] = {0, 2}, below[] = {-2, 0};
  EXPECT_EQ(message_of([&] { word_weights(weights, two, one, 2, 1); }), "");
  EXPECT_EQ(message_of([&] { word_weights(weights, one, two, 1, 2); }),
            "word_weights: expected weights [2,1], got [1, 2]");
  EXPECT_NE(message_of([&] { word_weights(weights, far, one, 2, 1); }), "");
  EXPECT_NE(message_of([&] { word_weights(weights, two, one, 2, 0); }), "");
  EXPECT_EQ(message_of([&] { word_weights(weights, below, one, 2, 1); }), "") << "none, as −1";
}

TEST(LinksOf, TheBestOrAllFromAThreshold) {
  const Tensor weights = Tensor::of({3, 3}, {0.125, 0.5, 0.375,  //
                                             0.9, 0.1, 0.0,      //
                                             0.0, 0.0, 0.0});
  EXPECT_EQ(links_of(weights), (data::Links{{0, 1}, {1, 0}})) << "a word that looked at nothing has no link";
  EXPECT_EQ(links_of(weights, 0.375), (data::Links{{0, 1}, {1, 0}, {2, 0}}));
  EXPECT_EQ(links_of(weights, 1), data::Links{});
  EXPECT_EQ(links_of(Tensor::zeros({2, 0})), data::Links{});
  EXPECT_EQ(links_of(Tensor::zeros({0, 2})), data::Links{});
  EXPECT_NE(message_of([] { links_of(Tensor::zeros({2})); }), "");
}

}  // namespace
}  // namespace attend::explain
