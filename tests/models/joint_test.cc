// CTC and attention together, against all labellings of tiny sounds.
#include "attend/models/joint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/decode/search.h"
#include "attend/models/ctc_prefix.h"
#include "tests/models/small.h"
#include "tests/support/labellings.h"

namespace attend::models {
namespace {

using Said = std::vector<int32_t>;

constexpr int64_t kJointWords = 6, kJointFrames = 7;  // four places; words from kUnknown on may be said

JointOptions joint_options(double trained, double used, const std::string& decoder = "recurrent") {
  JointOptions o;
  o.encoder.text.kind = "listener", o.encoder.text.features = 3, o.encoder.text.size = 4;
  o.encoder.text.layers = 1, o.encoder.text.pyramid = 1;
  o.target_vocabulary = kJointWords;
  o.decoder.kind = decoder, o.decoder.heads = 2, o.decoder.hidden = 6;
  o.decoder.recurrent.hidden = 4, o.decoder.recurrent.attention.score = "location_aware";
  o.ctc_weight = trained, o.decode_ctc_weight = used;
  return o;
}

/// The same network whatever the shares of CTC are, far from uniform.
Joint joint_network(const JointOptions& options) {
  Random random(3);
  Joint model(options, random);
  for (nn::NamedParam& p : nn::parameters(model)) {
    for (real& x : p.var.value().values()) x = static_cast<real>(0.8 * random.normal());
  }
  return model;
}

data::Source joint_sounds(std::vector<int32_t> lengths) {
  Random random(4);
  Tensor x({static_cast<int64_t>(lengths.size()), *std::ranges::max_element(lengths), 3});
  for (real& v : x.values()) v = static_cast<real>(random.normal());
  return data::Source::of_frames(x, std::move(lengths));
}

data::Source tiny_sound() { return joint_sounds({kJointFrames}); }

bool sayable(const Said& words) {
  return std::ranges::all_of(words, [](int32_t w) { return w == data::kUnknown || w > data::kEnd; });
}

double log_p_of(const Model& model, const Said& words) {
  return decode::score(model, {tiny_sound(), rows({words})})[0].log_probability;
}

/// (1 − λ)·ln p_attention + λ·ln p_ctc of everything that can be said, by going through all paths of CTC.
std::map<Said, double> all_answers(double weight, const std::string& decoder) {
  const Joint attends = joint_network(joint_options(0.3, 0, decoder));
  const Tensor logits = attends.frames(tiny_sound());
  std::map<Said, double> all;
  for (const auto& [words, p] :
       test::all_labellings(test::to_array(logits.reshape({logits.dim(1), kJointWords})), data::kPad)) {
    if (sayable(words)) all[words] = (1 - weight) * log_p_of(attends, words) + weight * std::log(p);
  }
  return all;
}

class JointSearch : public testing::TestWithParam<std::tuple<std::string, double>> {
 protected:
  const std::string decoder_ = std::get<0>(GetParam());
  const double weight_ = std::get<1>(GetParam());
  const Joint model_ = joint_network(joint_options(0.3, weight_, decoder_));
  const std::map<Said, double> all_ = all_answers(weight_, decoder_);
};
INSTANTIATE_TEST_SUITE_P(Joint, JointSearch,
                         testing::Combine(testing::Values("recurrent", "transformer"), testing::Values(0.3, 0.7, 1.0)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + std::to_string(std::lround(10 * std::get<1>(info.param)));
                         });

TEST_P(JointSearch, StepsAddUpToTheMixtureOfBoth) {
  ASSERT_GT(all_.size(), 60u);
  for (const auto& [words, score] : all_) EXPECT_NEAR(log_p_of(model_, words), score, 2e-4 * (1 + std::abs(score)));
}

TEST_P(JointSearch, AWideBeamFindsTheBestOfAllAnswers) {
  std::vector<std::pair<double, Said>> best;
  for (const auto& [words, score] : all_) best.emplace_back(score, words);
  std::ranges::sort(best, std::greater<>());
  const auto found = decode::search(model_, tiny_sound(), {.beam = 200, .n_best = 8})[0];
  ASSERT_EQ(found.size(), 8u);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(found[i].ended);
    EXPECT_EQ(found[i].tokens, best[i].second) << "answer " << i;
    EXPECT_NEAR(found[i].log_probability, best[i].first, 2e-4 * (1 + std::abs(best[i].first)));
  }
}

/// What does not fit into the frames cannot be said, however much attention would like to.
TEST_P(JointSearch, WhatDoesNotFitCannotBeSaid) {
  const auto found = decode::search(model_, tiny_sound(), {.beam = 200, .n_best = 200});
  for (const decode::Hypothesis& one : found[0]) {
    EXPECT_TRUE(!one.ended || all_.contains(one.tokens));
  }
  EXPECT_LT(log_p_of(model_, {4, 4, 4}), -1e20) << "takes five frames, of four";
}

TEST(Joint, LearnsFromBothByTheirShares) {
  const data::Batch batch{joint_sounds({7, 5, 7}), rows({{4, 5, 3}, {5}, {4, 4}})};
  const double tokens = 9;  // with the ends
  double ctc = 0;
  for (int64_t b = 0; b < 3; ++b) {
    const Joint model = joint_network(joint_options(0.3, 0.3));
    const Tensor logits = model.frames(batch.source)[b];
    const int64_t places = b == 1 ? 3 : 4;
    const auto all = test::all_labellings(test::to_array(logits.rows(0, places)), data::kPad);
    ctc -= std::log(all.at(batch.target.row(b)));
  }
  const double attention = loss_of(joint_network(joint_options(0.3, 0)), batch);
  for (const double weight : {0.0, 0.2, 0.5, 1.0}) {
    const double expected = weight * ctc / tokens + (1 - weight) * attention;
    Training training{Random(5)};
    const Joint model = joint_network(joint_options(weight, 0.9));
    EXPECT_NEAR(static_cast<double>(model.loss(batch, &training).item()), expected, 1e-4 * expected) << weight;
    EXPECT_NEAR(loss_of(joint_network(joint_options(0.9, weight)), batch), expected, 1e-4 * expected) << weight;
  }
}

/// One sound with two answers counts as two pairs.
TEST(Joint, AnswersMayShareASound) {
  const Joint model = joint_network(joint_options(0.5, 0.5));
  data::Batch shared{joint_sounds({7}), rows({{4, 5}, {5}})};
  shared.source_of = {0, 0};
  const double first = loss_of(model, {joint_sounds({7}), rows({{4, 5}})}) * 3;
  const double second = loss_of(model, {joint_sounds({7}), rows({{5}})}) * 2;
  EXPECT_NEAR(loss_of(model, shared), (first + second) / 5, 1e-4 * first);
}

/// A target that is longer than its sound teaches attention alone.
TEST(Joint, ATargetThatDoesNotFitIsLeftOutOfCtc) {
  const data::Batch batch{joint_sounds({2}), rows({{4, 5, 4}})};
  Training training{Random(5)};
  const double attention = loss_of(joint_network(joint_options(0.5, 0)), batch);
  EXPECT_NEAR(static_cast<double>(joint_network(joint_options(0.5, 0)).loss(batch, &training).item()), attention / 2,
              1e-5);
}

/// The derivative along a random direction of all parameters at once, of the loss with both parts and the location-aware score.
TEST(Joint, Gradient) {
  Joint model = joint_network(joint_options(0.4, 0.4));
  const data::Batch batch{joint_sounds({7, 5, 7}), rows({{4, 5, 3}, {5}, {4, 4}})};
  Training training{Random(5)};
  {
    Tape tape;
    const Var loss = model.loss(batch, &training);
    tape.backward(loss);
  }
  Random random(6);
  for (nn::NamedParam& p : nn::parameters(model)) {
    ASSERT_TRUE(p.var.gradient().defined()) << p.name;
    if (sizeof(real) < 8) continue;  // differences of floats say nothing
    const Tensor at = p.var.value().clone();
    std::vector<real> direction(at.size());
    for (real& d : direction) d = static_cast<real>(random.normal());
    const auto f = [&](double h) {
      for (size_t i = 0; i < at.size(); ++i) {
        p.var.value().data()[i] = at.data()[i] + static_cast<real>(h) * direction[i];
      }
      return static_cast<double>(model.loss(batch, &training).item());
    };
    const double h = 1e-4, numeric = (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
    f(0);
    double analytic = 0;
    for (size_t i = 0; i < at.size(); ++i) analytic += p.var.gradient().data()[i] * direction[i];
    EXPECT_NEAR(analytic, numeric, 1e-7 * (1 + std::abs(numeric))) << p.name;
  }
}

}  // namespace
}  // namespace attend::models
