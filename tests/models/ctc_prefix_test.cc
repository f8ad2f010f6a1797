#include "attend/models/ctc_prefix.h"

#include <gtest/gtest.h>

#include "attend/autograd/ops/ctc.h"
#include "attend/base/error.h"
#include "tests/support/labellings.h"

namespace attend::models {
namespace {

using test::Array;
using Labels = std::vector<int32_t>;

bool begins_with(const Labels& labels, const Labels& prefix) {
  return labels.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), labels.begin());
}

class OfPrefixes : public testing::TestWithParam<int32_t> {
 protected:
  const int32_t blank_ = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Blank, OfPrefixes, testing::Values(0, 1, 3));

TEST_P(OfPrefixes, EveryPrefixHasItsShareOfAllLabellings) {
  Random random(1);
  const Array x = test::random_array({5, 4}, random);
  const auto all = test::all_labellings(x, blank_);
  const CtcPrefix ctc(test::to_tensor(x), blank_);
  for (const auto& [labels, p] : all) {
    CtcPrefix::State state = ctc.begin();
    double chain = 0;
    Labels prefix;
    for (size_t i = 0;; ++i) {
      double share = 0;
      for (const auto& [other, q] : all) share += begins_with(other, prefix) ? q : 0;
      EXPECT_NEAR(state.log_prefix, std::log(share), 1e-9);
      const std::vector<double> scores = ctc.scores(state);
      ASSERT_EQ(scores.size(), 4u);
      double sum = 0;
      for (const double s : scores) sum += std::exp(s);
      EXPECT_NEAR(sum, 1, 1e-12);
      EXPECT_NEAR(scores[static_cast<size_t>(blank_)], std::log(all.at(prefix) / share), 1e-9) << "the end";
      if (i == labels.size()) {
        chain += scores[static_cast<size_t>(blank_)];
        break;
      }
      chain += scores[static_cast<size_t>(labels[i])];
      prefix.push_back(labels[i]);
      state = ctc.advance(state, labels[i]);
    }
    EXPECT_NEAR(chain, std::log(p), 1e-9);
  }
}

TEST_P(OfPrefixes, TheChainOfALabellingIsItsCtcLoss) {
  // Long and peaked: probabilities far below what a double holds.
  const int64_t T = 400, V = 12;
  Random random(2);
  Array x = test::random_array({T, V}, random);
  for (double& v : x.v) v *= 8;
  Labels target;
  while (target.size() < 90) {
    const int32_t label = static_cast<int32_t>(random.below(static_cast<uint64_t>(V)));
    if (label != blank_) target.push_back(label);
  }
  target[10] = target[9];
  const Tensor logits = test::to_tensor(x);
  const double loss = static_cast<double>(
      ctc_loss(logits.reshape({T, 1, V}), {static_cast<int32_t>(T)}, {target}, {.blank = blank_}).item());
  const CtcPrefix ctc(logits, blank_);
  CtcPrefix::State state = ctc.begin();
  double chain = 0;
  for (const int32_t label : target) {
    const std::vector<double> scores = ctc.scores(state);
    double sum = 0;
    for (const double s : scores) sum += std::exp(s);
    EXPECT_NEAR(sum, 1, 1e-10);
    chain += scores[static_cast<size_t>(label)];
    state = ctc.advance(state, label);
  }
  chain += ctc.scores(state)[static_cast<size_t>(blank_)];
  EXPECT_GT(loss, 750);
  EXPECT_NEAR(chain, -loss, 1e-5 * loss);
}

TEST(CtcPrefix, WhatDoesNotFitCannotHappen) {
  const CtcPrefix ctc(Tensor::zeros({2, 3}), 0);
  CtcPrefix::State state = ctc.advance(ctc.begin(), 1);
  EXPECT_EQ(ctc.scores(state)[1], -INFINITY) << "1 1 takes three frames";
  state = ctc.advance(state, 2);
  const std::vector<double> scores = ctc.scores(state);
  EXPECT_NEAR(scores[0], 0, 1e-12) << "only the end is left";
  EXPECT_EQ(scores[1], -INFINITY);
  EXPECT_EQ(scores[2], -INFINITY);
  for (const double s : ctc.scores(ctc.advance(state, 1))) EXPECT_EQ(s, -INFINITY);
}

TEST(CtcPrefix, NoFramesEndAtOnce) {
  const CtcPrefix ctc(Tensor({0, 3}), 0);
  const std::vector<double> scores = ctc.scores(ctc.begin());
  EXPECT_EQ(scores[0], 0);
  EXPECT_EQ(scores[1], -INFINITY);
}

TEST(CtcPrefix, Refusals) {
  EXPECT_THROW(CtcPrefix(Tensor::zeros({3}), 0), Error);
  EXPECT_THROW(CtcPrefix(Tensor::zeros({2, 3}), 3), Error);
  EXPECT_THROW(CtcPrefix(Tensor::full({2, 3}, NAN), 0), Error);
  const CtcPrefix ctc(Tensor::zeros({2, 3}), 0), other(Tensor::zeros({3, 3}), 0);
  EXPECT_THROW(ctc.advance(ctc.begin(), 0), Error);
  EXPECT_THROW(ctc.advance(ctc.begin(), 3), Error);
  EXPECT_THROW(ctc.scores(other.begin()), Error);
}

}  // namespace
}  // namespace attend::models
