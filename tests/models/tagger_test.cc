// A tagger with a conditional random field: its probabilities are those of whole labellings, whether they are requested
// at once, label by label, or by a search.
#include "attend/models/tagger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "attend/autograd/tape.h"
#include "attend/decode/search.h"
#include "attend/models/zoo.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

constexpr double kTagTolerance = sizeof(real) == 8 ? 1e-9 : 2e-5;
constexpr int32_t kTagLabels = 3;

const std::vector<std::vector<int32_t>> kTagSources{{4, 5, 6, 7}, {8, 4}, {6}, {9, 9, 5}};

std::unique_ptr<Model> tagger(const std::string& output, uint64_t seed = 3) {
  Random random(seed);
  auto model = make_model(
      "tagger",
      {{"encoder.vocabulary", "11"}, {"encoder.size", "6"}, {"labels", std::to_string(kTagLabels)}, {"output", output}},
      random);
  for (const nn::NamedParam& p : nn::parameters(*model)) {  // a field begins at 0: nothing would depend on anything
    Var var = p.var;
    if (p.name.starts_with("crf")) {
      for (real& x : var.value().values()) x = static_cast<real>(1.5 * random.normal());
    }
  }
  return model;
}

std::vector<std::vector<int32_t>> all_labellings(size_t length) {
  std::vector<std::vector<int32_t>> all{{}};
  for (size_t t = 0; t < length; ++t) {
    std::vector<std::vector<int32_t>> longer;
    for (const auto& labels : all) {
      for (int32_t j = 0; j < kTagLabels; ++j) {
        longer.push_back(labels);
        longer.back().push_back(j);
      }
    }
    all = std::move(longer);
  }
  return all;
}

double log_probability(const Model& model, const std::vector<int32_t>& source, const std::vector<int32_t>& labels) {
  return decode::score(model, {data::Sequences({source}), data::Sequences({labels})})[0].log_probability;
}

/// The likeliest label at each place, after those that were chosen before it.
std::vector<int32_t> greedy(const Model& model, const std::vector<int32_t>& source) {
  const auto state = model.begin(data::Sequences({source}));
  std::vector<int32_t> labels, last{data::kBegin};
  for (size_t t = 0; t < source.size(); ++t) {
    const Tensor logits = model.next(*state, last);
    last[0] = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    labels.push_back(last[0]);
  }
  return labels;
}

TEST(CrfTagger, TheProbabilitiesOfAllLabellingsSumToOne) {
  const auto model = tagger("crf");
  for (const auto& source : kTagSources) {
    double sum = 0;
    for (const auto& labels : all_labellings(source.size())) sum += std::exp(log_probability(*model, source, labels));
    EXPECT_NEAR(sum, 1, 10 * kTagTolerance);
  }
}

TEST(CrfTagger, TheLossIsWhatItsStepsSay) {
  const auto model = tagger("crf");
  const std::vector<std::vector<int32_t>> targets{{0, 2, 2, 1}, {1, 1}, {2}, {0, 0, 1}};
  const data::Batch batch{data::Sequences(kTagSources), data::Sequences(targets)};
  double nats = 0;
  for (const decode::Hypothesis& one : decode::score(*model, batch)) nats -= one.log_probability;
  EXPECT_NEAR(model->loss(batch).item(), nats / 10, kTagTolerance) << "ten places in all";
}

TEST(CrfTagger, TheLossOfOnePlaceIsThatOfItsStep) {
  const auto model = tagger("crf");
  const std::vector<std::vector<int32_t>> targets{{0, 2, 2, 1}, {1, 1}, {2}, {0, 0, 1}};
  data::Batch batch{data::Sequences(kTagSources), data::Sequences(targets)};
  const auto scored = decode::score(*model, batch);
  batch.only = {3, 0, 0, 1};
  double nats = 0;
  for (size_t b = 0; b < 4; ++b) nats -= scored[b].token_log_probabilities[static_cast<size_t>(batch.only[b])];
  EXPECT_NEAR(model->loss(batch).item(), nats / 4, kTagTolerance);
  batch.only = {0};
  EXPECT_NE(test::message_of([&] { (void)model->loss(batch); }).find("one place for each of 4 pairs"),
            std::string::npos);
}

TEST(CrfTagger, ASearchFindsTheLikeliestLabellingWhateverItsBeam) {
  int64_t surprises = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const auto model = tagger("crf", seed);
    const auto found = decode::search(*model, data::Sequences(kTagSources), {});
    for (size_t b = 0; b < kTagSources.size(); ++b) {
      std::map<double, std::vector<int32_t>> by_probability;
      for (const auto& labels : all_labellings(kTagSources[b].size())) {
        by_probability[log_probability(*model, kTagSources[b], labels)] = labels;
      }
      ASSERT_EQ(found[b].size(), 1u);
      EXPECT_EQ(found[b][0].tokens, by_probability.rbegin()->second);
      EXPECT_NEAR(found[b][0].log_probability, by_probability.rbegin()->first, kTagTolerance);
      EXPECT_TRUE(found[b][0].ended);
      surprises += found[b][0].tokens != greedy(*model, kTagSources[b]);
    }
    const auto wide = decode::search(*model, data::Sequences(kTagSources), {.beam = 3});
    for (size_t b = 0; b < kTagSources.size(); ++b) EXPECT_EQ(wide[b][0].tokens, found[b][0].tokens);
  }
  EXPECT_GT(surprises, 0) << "or label by label would have done";
}

TEST(CrfTagger, OtherSearchesGoLabelByLabel) {
  const auto model = tagger("crf");
  const auto all = decode::search(*model, data::Sequences(kTagSources), {.beam = 81, .n_best = 81});
  const auto best = decode::search(*model, data::Sequences(kTagSources), {});
  for (size_t b = 0; b < kTagSources.size(); ++b) {
    EXPECT_EQ(all[b].size(), all_labellings(kTagSources[b].size()).size());
    EXPECT_EQ(all[b][0].tokens, best[b][0].tokens);
  }
  // What is forced is kept to, and what follows is the likeliest of what may.
  const std::vector<std::vector<int32_t>> prefixes{{2, 0}, {0}, {1}, {1, 1}};
  const auto forced = decode::search(*model, data::Sequences(kTagSources), {.beam = 9}, prefixes);
  for (size_t b = 0; b < kTagSources.size(); ++b) {
    EXPECT_TRUE(std::equal(prefixes[b].begin(), prefixes[b].end(), forced[b][0].tokens.begin()));
  }
  const auto drawn = decode::search(*model, data::Sequences(kTagSources), {.n_best = 5, .sample = true});
  for (const decode::Hypothesis& one : drawn[0]) {
    EXPECT_NEAR(one.log_probability, log_probability(*model, kTagSources[0], one.tokens), kTagTolerance);
  }
}

TEST(CrfTagger, AWatcherChangesNoAnswer) {
  struct Count : decode::SearchWatcher {
    int64_t kept = 0;
    void predicted(const decode::Predicted& one) override { kept += one.node >= 0; }
  } watcher;
  const auto model = tagger("crf");
  const auto alone = decode::search(*model, data::Sequences(kTagSources), {.beam = 2});
  const auto watched = decode::search(*model, data::Sequences(kTagSources), {.beam = 2}, {}, &watcher);
  for (size_t b = 0; b < kTagSources.size(); ++b) {
    EXPECT_EQ(alone[b][0].tokens, watched[b][0].tokens);
    EXPECT_EQ(alone[b][0].log_probability, watched[b][0].log_probability);
  }
  EXPECT_EQ(watcher.kept, 10) << "one prediction for each place";
}

TEST(CrfTagger, AFieldOfZerosIsASoftmax) {
  Random first(3), second(3);
  const Settings settings{{"encoder.vocabulary", "11"}, {"encoder.size", "6"}, {"labels", "3"}};
  Settings field = settings;
  field["output"] = "crf";
  const auto plain = make_model("tagger", settings, first), crf = make_model("tagger", field, second);
  const data::Batch batch{data::Sequences(kTagSources), data::Sequences({{0, 2, 2, 1}, {1, 1}, {2}, {0, 0, 1}})};
  EXPECT_NEAR(plain->loss(batch).item(), crf->loss(batch).item(), kTagTolerance);
}

TEST(CrfTagger, UnknownOutputsAreRefusedWithTheNearest) {
  EXPECT_NE(test::message_of([] { (void)tagger("crv"); }).find("nearest is \"crf\""), std::string::npos);
}

}  // namespace
}  // namespace attend::models
