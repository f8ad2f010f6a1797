// A learned baseline of REINFORCE sees what the choice was made from, never what it led to: else it is biased (Williams 1992).
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "attend/attention/observe.h"
#include "attend/autograd/tape.h"
#include "attend/models/zoo.h"

namespace attend::models {
namespace {

struct Case {
  const char* name;
  const char* model;
  Settings more;
  bool images;
};

std::vector<Case> cases() {
  return {{"captioner", "captioner", {}, true},
          {"captioner, asked with the word", "captioner", {{"query", "state_word"}}, true},
          {"asked before the update", "recurrent", {}, false},
          {"asked after it", "recurrent", {{"decoder.query", "after"}}, false},
          {"fed", "recurrent", {{"decoder.query", "after"}, {"decoder.feeding", "true"}}, false}};
}

std::unique_ptr<Model> made_case(const Case& one) {
  Settings settings{{"target_vocabulary", "9"},
                    {"hidden", "7"},
                    {"embedding", "5"},
                    {"attention.align", "sample"},
                    {"reinforce.baseline", "learned"}};
  const Settings image_settings{
      {"encoder.channels", "1"}, {"encoder.height", "8"}, {"encoder.width", "8"}, {"encoder.stages", "6"}};
  const Settings word_settings{{"source_vocabulary", "9"}};
  for (const auto& more : {one.images ? image_settings : word_settings, one.more})
    settings.insert(more.begin(), more.end());
  Random random(3);
  return make_model(one.model, settings, random);
}

/// One source, and an answer that ends at once: a single choice.
data::Batch batch_of(const Case& one) {
  const data::Sequences nothing(std::vector<std::vector<int32_t>>{{}});
  if (!one.images) return {data::Sequences(std::vector<std::vector<int32_t>>{{4, 5, 6, 7, 8}}), nothing};
  Tensor image({1, 1, 8, 8});
  Random random(11);
  for (real& x : image.values()) x = static_cast<real>(random.uniform());
  return {data::Source::of_images(image), nothing};
}

struct Chosen : Sink {
  int64_t place = -1;
  void observe(const Observation& seen) override {
    const auto weights = seen.weights.values();
    place = std::max_element(weights.begin(), weights.end()) - weights.begin();
  }
};

/// (R − b)² has the gradient −2(R − b)·features: with a single choice, its direction is that of the features.
std::vector<double> direction_of_features(Model& model, const data::Batch& batch, uint64_t seed, Chosen& chosen) {
  Training training{Random(seed)};
  std::vector<double> direction;
  {
    const Observing observing(chosen);
    Tape tape;
    tape.backward(model.loss(batch, &training));
  }
  for (const nn::NamedParam& p : nn::parameters(model)) {
    Var var = p.var;
    if (p.name == "reinforce.baseline_weight") {
      for (const real g : var.gradient().values()) direction.push_back(static_cast<double>(g));
    }
    var.clear_gradient();
  }
  double length = 0;
  for (const double x : direction) length += x * x;
  const double sign = direction.empty() || direction[0] < 0 ? -1 : 1;
  for (double& x : direction) x *= sign / std::sqrt(length);
  return direction;
}

TEST(LearnedBaseline, DoesNotSeeWhatWasDrawn) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const auto model = made_case(one);
    const data::Batch batch = batch_of(one);
    std::set<int64_t> places;
    Chosen chosen;
    const std::vector<double> first = direction_of_features(*model, batch, 1, chosen);
    ASSERT_FALSE(first.empty());
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      const std::vector<double> again = direction_of_features(*model, batch, seed, chosen);
      places.insert(chosen.place);
      ASSERT_EQ(again.size(), first.size());
      for (size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(again[i], first[i], 1e-4) << seed << ", " << i;
    }
    EXPECT_GT(places.size(), 2u) << "choices differ";
  }
}

}  // namespace
}  // namespace attend::models
