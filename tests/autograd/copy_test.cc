// What copying adds up to: probabilities, their shares, and numbers at the edge of what a float can hold.
#include "attend/autograd/ops/copy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/base/random.h"
#include "tests/support/message.h"

namespace attend {
namespace {

constexpr int64_t kN = 2, kT = 3, kS = 4, kV = 6, kW = 8;

Tensor drawn(const Shape& shape, uint64_t seed) {
  Random random(seed);
  Tensor x(shape);
  for (real& one : x.values()) one = static_cast<real>(random.normal());
  return x;
}

CopyMixture example(real gate = real(0.3)) {
  return {.logits = drawn({kN, kT, kV}, 1),
          .gate = Tensor::full({kN, kT, 1}, gate),
          .weights = softmax(drawn({kN, kT, kS}, 2)),
          .words = Ids({kN, kS}, {4, 6, 4, 7, 5, 6, 5, 5})};
}

TEST(Copy, ProbabilitiesSumToOneAndAreThoseOfTheLoss) {
  const CopyMixture mixture = example();
  const Tensor log_p = copy_log_probabilities(mixture, kW);
  ASSERT_EQ(log_p.shape(), (Shape{kN, kT, kW}));
  for (int64_t r = 0; r < kN * kT; ++r) {
    double sum = 0;
    for (int64_t w = 0; w < kW; ++w) sum += std::exp(static_cast<double>(log_p.data()[r * kW + w]));
    EXPECT_NEAR(sum, 1, 1e-5) << "row " << r;
  }
  for (int32_t word = 0; word < 7; ++word) {  // word 7 is one of the first source only
    std::vector<int32_t> targets(kN * kT, -1);
    targets[4] = word;
    EXPECT_NEAR(static_cast<double>(copy_loss(mixture, Ids({kN, kT}, targets)).item()),
                -static_cast<double>(log_p.data()[4 * kW + word]), 1e-5)
        << word;
  }
  EXPECT_EQ(log_p.data()[4 * kW + 7], -INFINITY) << "the second source does not have it";
}

TEST(Copy, SharesAreWhatCopyingGives) {
  const CopyMixture mixture = example();
  const Ids targets({kN, kT}, {4, 6, 3, 5, -1, 6});
  const Tensor shares = copied_shares(mixture, targets), log_p = copy_log_probabilities(mixture, kW);
  EXPECT_EQ(shares.shape(), (Shape{kN, kT}));
  const real* weights = mixture.weights.value().data();
  const double rest = 1 / (1 + std::exp(0.3));
  EXPECT_NEAR(static_cast<double>(shares.data()[0]),
              rest * static_cast<double>(weights[0] + weights[2]) / std::exp(static_cast<double>(log_p.data()[4])), 1e-5);
  EXPECT_NEAR(static_cast<double>(shares.data()[1]), 1, 1e-6) << "outside the vocabulary";
  EXPECT_EQ(shares.data()[2], 0) << "not in the source";
  EXPECT_EQ(shares.data()[4], 0) << "ignored";
}

TEST(Copy, AClosedGateIsCrossEntropy) {
  const CopyMixture mixture = example(60);
  const Ids targets({kN, kT}, {4, 1, 3, 5, 2, 0});
  EXPECT_NEAR(static_cast<double>(copy_loss(mixture, targets).item()),
              static_cast<double>(cross_entropy(mixture.logits, targets).item()), 1e-5);
}

TEST(Copy, ExtremesStayNumbers) {
  for (const real gate : {real(-200), real(200)}) {
    for (const int32_t target : {3, 4, 6, 7}) {
      CopyMixture mixture = example(gate);
      mixture.logits = Var::leaf(Tensor::full({kN, kT, kV}, gate));
      mixture.gate = Var::leaf(mixture.gate.value());
      Tensor nothing = Tensor::zeros({kN, kT, kS});
      nothing.data()[0] = real(1e-37);
      mixture.weights = Var::leaf(nothing);
      Tape tape;
      const Var loss = copy_loss(mixture, Ids({kN, kT}, std::vector<int32_t>(kN * kT, target)));
      EXPECT_TRUE(std::isfinite(loss.item())) << target << " " << gate;
      tape.backward(loss);
      for (const Var& leaf : {mixture.logits, mixture.gate, mixture.weights}) {
        for (const real x : leaf.gradient()) EXPECT_TRUE(std::isfinite(x)) << target << " " << gate;
      }
    }
  }
}

TEST(Copy, NothingCountsAsZero) {
  EXPECT_EQ(copy_loss(example(), Ids({kN, kT}, std::vector<int32_t>(kN * kT, -1))).item(), 0);
  EXPECT_EQ(test::message_of([] { copy_log_probabilities(example(), kV + 1); }),
            "copy_log_probabilities: expected copies of words below 7, got 7");
}

}  // namespace
}  // namespace attend
