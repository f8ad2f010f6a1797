// Weights that come with the source: some steps of an answer are told where to look, the others look for themselves.
#include "attend/models/given_weights.h"

#include <gtest/gtest.h>

#include "attend/attention/observe.h"
#include "attend/decode/search.h"
#include "attend/models/zoo.h"
#include "tests/models/small.h"
#include "tests/support/message.h"
#include "tests/support/text.h"

namespace attend::models {
namespace {

using test::has;
using test::message_of;

const Settings kSmallNetwork{
    {"source_vocabulary", "11"}, {"target_vocabulary", "11"}, {"embedding", "6"}, {"hidden", "8"}};

std::unique_ptr<Model> network(const Settings& more = {}) {
  Random random(5);
  return make_model("recurrent", kSmallNetwork + more, random);
}

data::Source two_sources() { return data::Source(rows({{4, 5, 6, 7}, {9, 4, 8}})); }

/// Steps 0 and 2 of the first answer and step 1 of the second.
Tensor some_steps() {
  Tensor weights = Tensor::full({2, 3, 4}, -1);
  const auto give = [&](int64_t b, int64_t t, std::initializer_list<real> row) {
    std::copy(row.begin(), row.end(), weights.data() + (b * 3 + t) * 4);
  };
  give(0, 0, {0, 1, 0, 0}), give(0, 2, {0.5, 0, 0, 0.5}), give(1, 1, {0.25, 0.75, 0, 0});
  return weights;
}

/// What was looked at, step by step: [N,S] each.
struct LookSink : Sink {
  std::vector<Tensor> steps;
  void observe(const Observation& one) override {
    for (int64_t t = 0; t < one.weights.dim(2); ++t) {
      Tensor row({one.weights.dim(0), one.weights.dim(3)});
      for (int64_t n = 0; n < row.dim(0); ++n) {
        std::copy_n(one.weights.data() + (n * one.weights.dim(2) + t) * row.dim(1), row.dim(1),
                    row.data() + n * row.dim(1));
      }
      steps.push_back(row);
    }
  }
};

std::vector<Tensor> looks(const Model& model, const data::Batch& batch) {
  LookSink sink;
  const Observing observing(sink);
  (void)model.loss(batch);
  return sink.steps;
}

TEST(GivenWeights, TellSomeStepsWhereToLook) {
  for (const char* query : {"before", "after"}) {
    const auto model = network({{"decoder.query", query}});
    data::Batch batch{two_sources(), rows({{4, 5, 6, 7}, {8, 4}})};
    const std::vector<Tensor> own = looks(*model, batch);
    batch.source.add_given(some_steps());
    const std::vector<Tensor> told = looks(*model, batch);
    ASSERT_EQ(told.size(), 5u) << "four tokens and the end";
    const Tensor wanted = some_steps();
    for (const auto& [b, t] : {std::pair{0, 0}, {0, 2}, {1, 1}}) {
      for (int64_t s = 0; s < 4; ++s) {
        EXPECT_EQ(told[static_cast<size_t>(t)].data()[b * 4 + s], wanted.data()[(b * 3 + t) * 4 + s])
            << query << b << t << s;
      }
    }
    EXPECT_EQ(told[0].data()[4], own[0].data()[4]) << "the first step of the second is its own";
    const data::Batch& same = batch;
    const auto scored = decode::score(*model, same);
    double nats = 0;
    for (const decode::Hypothesis& one : scored) nats -= one.log_probability;
    EXPECT_NEAR(loss_of(*model, same), nats / 8, 10 * kTolerance) << "step by step as under teacher forcing";
  }
}

TEST(GivenWeights, FollowTheHypothesesOfABeam) {
  const auto model = network({{"decoder.query", "after"}});
  data::Source source = two_sources();
  source.add_given(some_steps());
  for (const auto& found : decode::search(*model, source, {.beam = 3, .n_best = 3, .max_length = 5})) {
    EXPECT_EQ(found.size(), 3u);
  }
  const std::vector<int32_t> swapped{1, 0, 1};
  GivenWeights given(source, 4);
  given.take(swapped);
  const Tensor one = given.at(1);
  EXPECT_EQ(one.shape(), (Shape{3, 1, 4}));
  EXPECT_EQ(one.data()[1], real{0.75});
  EXPECT_EQ(one.data()[4], -1);
  EXPECT_EQ(one.data()[9], real{0.75});
  EXPECT_EQ(given.at(3).data()[0], -1) << "later steps are not given";
}

TEST(GivenWeights, OfLinksAreSharedEquallyAndEndWithThem) {
  data::Source source = two_sources();
  source.add_given(rows({{1, 0, 2, 0, 3, 2}, {}}));
  const GivenWeights given(source, 4);
  const Tensor all = given.first(4);
  const real wanted[] = {0, 0.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(all.data()[i], wanted[i]) << i;
  for (size_t i = 16; i < 32; ++i) EXPECT_EQ(all.data()[i], 0) << "an answer without links looks at nothing";
}

TEST(GivenWeights, AreRefusedWhereTheyDoNotFit) {
  const auto refused = [](auto&& add, const std::string& says) {
    const std::string message = message_of([&] {
      data::Source source = two_sources();
      add(source);
      (void)loss_of(*network(), {source, rows({{4}, {5}})});
    });
    EXPECT_TRUE(has(message, says)) << message;
  };
  refused([](data::Source& s) { s.add_given(Tensor::zeros({2, 3, 5})); }, "given weights of 4 places, got [2, 3, 5]");
  refused([](data::Source& s) { s.add_given(Tensor::zeros({3, 3, 4})); }, "expected 2 examples in part text.given");
  refused([](data::Source& s) { s.add_given(rows({{0, 0, 1}, {}})); }, "expected pairs of places");
  refused([](data::Source& s) { s.add_given(rows({{4, 0}, {}})); }, "expected links to places below 4, got 4-0");
  refused([](data::Source& s) { s.add_given(rows({{0, -1}, {}})); }, "got 0--1");
  const std::string several = message_of([] {
    data::Source source = two_sources();
    source.add_given(rows({{0, 0}, {0, 0}}));
    (void)loss_of(*network(), {.source = source, .target = rows({{4}, {5}, {6}}), .source_of = {0, 0, 1}});
  });
  EXPECT_TRUE(has(several, "one answer to each source")) << several;
}

TEST(Oracle, WantsAnAlignmentAndAttention) {
  const auto told = network({{"decoder.oracle", "true"}});
  const std::string none = message_of([&] { told->begin(two_sources()); });
  EXPECT_TRUE(has(none, "expected a gold word alignment with each source, got none")) << none;
  const std::string bridge = message_of([] { network({{"decoder.oracle", "true"}, {"decoder.input", "bridge"}}); });
  EXPECT_TRUE(has(bridge, "needs decoder.input attention, got bridge")) << bridge;
  const std::string drawn = message_of([] { network({{"decoder.oracle", "true"}, {"attention.align", "sample"}}); });
  EXPECT_TRUE(has(drawn, "align sample learns from where it drew")) << drawn;
  const std::string copying = message_of([] { network({{"decoder.oracle", "true"}, {"decoder.copy", "true"}}); });
  EXPECT_TRUE(has(copying, "decoder.oracle: words are copied (decoder.copy)")) << copying;
}

}  // namespace
}  // namespace attend::models
