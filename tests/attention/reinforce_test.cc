// REINFORCE on a choice among five keys, where the gradient is known: ∂E[R]/∂θ = p∘(r − E[r]).
#include "attend/attention/reinforce.h"

#include <array>
#include <iostream>

#include "tests/attention/cases.h"

namespace attend::test {
namespace {

constexpr size_t K = 5;
constexpr std::array<double, K> kTheta{0.3, -0.5, 0.8, 0, -0.2}, kReward{4, 6, 5, 8, 7};

std::array<double, K> probabilities() {
  std::array<double, K> p{};
  double sum = 0;
  for (size_t j = 0; j < K; ++j) sum += p[j] = std::exp(kTheta[j]);
  for (double& x : p) x /= sum;
  return p;
}

std::array<double, K> true_gradient() {
  const auto p = probabilities();
  std::array<double, K> g{};
  double mean = 0;
  for (size_t j = 0; j < K; ++j) mean += p[j] * kReward[j];
  for (size_t j = 0; j < K; ++j) g[j] = p[j] * (kReward[j] - mean);
  return g;
}

struct Estimate {
  std::array<double, K> mean{}, variance{};
  double total() const {
    double sum = 0;
    for (const double v : variance) sum += v;
    return sum;
  }
};

/// The mean and the variance of `draws` estimates, of two choices each.
Estimate estimate(const ReinforceOptions& options, int draws) {
  Random random(5);
  Reinforce reinforce(options, 1, random);
  const std::unique_ptr<Align> sample = align_named("sample").make({});
  Tensor start({K});
  for (size_t j = 0; j < K; ++j) start.data()[j] = static_cast<real>(kTheta[j]);
  const Tensor counts = Tensor::full({2, 1}, 1), features = Tensor::full({2, 1, 1}, 1);
  std::array<double, K> sum{}, squares{};
  const int warm_up = 300;
  for (int draw = -warm_up; draw < draws; ++draw) {
    const Var theta = Var::leaf(start);
    Tape tape;
    const Aligned drawn = (*sample)(add(theta, Tensor::zeros({2, 1, K})), {}, {.random = &random});
    Tensor rewards = Tensor::zeros({2, 1});
    for (size_t i = 0; i < 2 * K; ++i) {
      rewards.data()[i / K] += drawn.weights.value().data()[i] * static_cast<real>(kReward[i % K]);
    }
    tape.backward(reinforce(rewards, drawn.log_probability, drawn.entropy, counts, features));
    reinforce.params([](const std::string& name, Var& p) {
      if (name == "averages") return;
      for (size_t i = 0; i < p.size(); ++i) p.value().data()[i] -= real(0.02) * p.gradient().data()[i];
      p.clear_gradient();
    });
    for (size_t j = 0; j < K && draw >= 0; ++j) {
      const double g = -static_cast<double>(theta.gradient().data()[j]);  // of the loss, which is −E[R]
      sum[j] += g, squares[j] += g * g;
    }
  }
  Estimate result;
  for (size_t j = 0; j < K; ++j) {
    result.mean[j] = sum[j] / draws;
    result.variance[j] = squares[j] / draws - result.mean[j] * result.mean[j];
  }
  return result;
}

TEST(Reinforce, IsUnbiasedWithEveryBaselineAndEachLowersTheVariance) {
  constexpr int kDraws = 30000;
  const auto truth = true_gradient();
  double none = 0;
  for (const BaselineRow& baseline : baselines()) {
    SCOPED_TRACE(std::string(baseline.name));
    const Estimate got = estimate({.baseline = std::string(baseline.name)}, kDraws);
    std::cout << baseline.name << ": variance " << got.total() << "; estimate (truth, standard errors off)";
    for (size_t j = 0; j < K; ++j) {
      const double error = std::sqrt(got.variance[j] / kDraws);
      std::cout << ' ' << got.mean[j] << " (" << truth[j] << ", " << (got.mean[j] - truth[j]) / error << ')';
      EXPECT_LE(std::abs(got.mean[j] - truth[j]), 4 * error) << "key " << j;
      EXPECT_LT(error, 0.02) << "too coarse to tell";
    }
    std::cout << '\n';
    if (baseline.name == "none") {
      none = got.total();
    } else {
      EXPECT_LT(got.total(), 0.2 * none);
    }
  }
}

/// The loss of one call, and ∂loss/∂ln p.
struct Call {
  double loss;
  Tensor slope;
};

Call call(const Reinforce& reinforce, const Tensor& rewards, const Tensor& counts, const Tensor& log_p,
          const Var& features = {}) {
  const Var p = Var::leaf(log_p);
  Tape tape;
  const Var loss = reinforce(rewards, p, {}, counts, features);
  tape.backward(loss);
  return {loss.item(), p.gradient()};
}

TEST(Reinforce, ReturnsAreDiscountedAndOnlyStepsThatCountDo) {
  Random random(1);
  const Reinforce reinforce({.baseline = "none", .discount = 0.5}, 0, random);
  const Tensor log_p = Tensor::of({2, 3}, {-1, -2, -3, -4, -5, -6});
  const Tensor rewards = Tensor::of({2, 3}, {1, 2, 4, 8, 100, 100}), counts = Tensor::of({2, 3}, {1, 1, 1, 1, 0, 0});
  const Call got = call(reinforce, rewards, counts, log_p);
  // Returns 1 + (2 + 4/2)/2 = 3, 4, 4 and 8; the mean over four steps.
  expect_near(got.slope, Tensor::of({2, 3}, {-0.75, -1, -1, -2, 0, 0}));
  EXPECT_NEAR(got.loss, (3 * 1 + 4 * 2 + 4 * 3 + 8 * 4) / 4.0, 1e-5);
}

TEST(Reinforce, DiscountOfOneIsTheWholeReturnAndOfZeroTheNextReward) {
  Random random(1);
  const Tensor log_p = Tensor::zeros({1, 3}), rewards = Tensor::of({1, 3}, {1, 2, 4}), counts = Tensor::full({1, 3}, 1);
  for (const double discount : {0.0, 1.0}) {
    const Reinforce reinforce({.baseline = "none", .discount = discount}, 0, random);
    Tensor expected = discount == 1 ? Tensor::of({1, 3}, {7, 6, 4}) : rewards.clone();
    for (real& x : expected.values()) x /= -3;
    expect_near(call(reinforce, rewards, counts, log_p).slope, expected);
  }
}

TEST(Reinforce, MovingAverageKnowsEarlierBatchesOnly) {
  Random random(1);
  Reinforce reinforce({.baseline = "moving_average", .decay = 0.75}, 0, random);
  const Tensor log_p = Tensor::zeros({2, 1}), all = Tensor::full({2, 1}, 1);
  expect_near(call(reinforce, Tensor::of({2, 1}, {2, 6}), all, log_p).slope, Tensor::of({2, 1}, {-1, -3}));
  // The mean was 4; 9 does not count.
  expect_near(call(reinforce, Tensor::of({2, 1}, {8, 9}), Tensor::of({2, 1}, {1, 0}), log_p).slope,
              Tensor::of({2, 1}, {-4, 0}));
  auto saved = nn::parameters(reinforce);
  const Tensor averages = parameter(saved, "averages").value();
  EXPECT_FALSE(parameter(saved, "averages").tracked()) << "it is saved and never optimised";
  EXPECT_NEAR(averages.data()[0], 0.75 * 4 + 0.25 * 8, 1e-6);
  EXPECT_NEAR(averages.data()[1], 0.75 * 20 + 0.25 * 64, 1e-5);
  EXPECT_EQ(averages.data()[2], 2);
}

TEST(Reinforce, NormaliseDividesByTheRunningDeviation) {
  Random random(1);
  const Reinforce reinforce({.baseline = "moving_average", .normalise = true}, 0, random);
  const Tensor log_p = Tensor::zeros({2, 1}), all = Tensor::full({2, 1}, 1), rewards = Tensor::of({2, 1}, {10, 30});
  expect_near(call(reinforce, rewards, all, log_p).slope, Tensor::of({2, 1}, {-5, -15}));  // nothing is known yet
  expect_near(call(reinforce, rewards, all, log_p).slope, Tensor::of({2, 1}, {0.5, -0.5}));
}

TEST(Reinforce, LearnedBaselineFitsTheReturnsAndLeavesItsFeaturesAlone) {
  Random random(1);
  Reinforce reinforce({.baseline = "learned"}, 2, random);
  auto saved = nn::parameters(reinforce);
  set(saved, "baseline_weight", Tensor::of({1, 2}, {1, 2}));
  set(saved, "baseline_bias", Tensor::of({1}, {3}));
  const Tensor counts = Tensor::of({2, 2}, {1, 0, 1, 1}), rewards = Tensor::of({2, 2}, {10, 50, 0, 20});
  const Var features = Var::leaf(Tensor::of({2, 2, 2}, {1, 0, 5, 5, 0, 1, 1, 1}));
  // Returns 10, 20, 20 against guesses 4, 5, 6.
  const Call got = call(reinforce, rewards, counts, Tensor::zeros({2, 2}), features);
  expect_near(got.slope, Tensor::of({2, 2}, {-6.0 / 3, 0, -15.0 / 3, -14.0 / 3}));
  EXPECT_NEAR(got.loss, (36 + 225 + 196) / 3.0, 1e-3);
  EXPECT_FALSE(features.gradient().defined());
  expect_near(parameter(saved, "baseline_bias").gradient(), Tensor::of({1}, {-2 * (6 + 15 + 14) / real{3}}));
  expect_near(parameter(saved, "baseline_weight").gradient(),
              Tensor::of({1, 2}, {-2 * (6 + 14) / real{3}, -2 * (15 + 14) / real{3}}));
}

TEST(Reinforce, EntropyBonusKeepsTheChoiceOpen) {
  Random random(1);
  const Reinforce reinforce({.baseline = "none", .entropy = 0.25}, 0, random);
  Tensor start({1, 1, K});
  for (size_t j = 0; j < K; ++j) start.data()[j] = static_cast<real>(kTheta[j]);
  const Var theta = Var::leaf(start);
  const auto p = probabilities();
  double entropy = 0;
  for (const double x : p) entropy -= x * std::log(x);
  Tape tape;
  const Aligned drawn = (*align_named("sample").make({}))(theta, {}, {.random = &random});
  const Var loss = reinforce(Tensor::zeros({1, 1}), drawn.log_probability, drawn.entropy, Tensor::full({1, 1}, 1));
  EXPECT_NEAR(loss.item(), -0.25 * entropy, 1e-5);
  tape.backward(loss);
  // ∂H/∂θⱼ = −pⱼ(ln pⱼ + H).
  for (size_t j = 0; j < K; ++j) {
    EXPECT_NEAR(theta.gradient().data()[j], 0.25 * p[j] * (std::log(p[j]) + entropy), 1e-6) << j;
  }
}

TEST(Reinforce, LossIsTheWeightedMean) {
  const Tensor log_p = Tensor::of({3}, {-1, -2, -3}), advantage = Tensor::of({3}, {2, -1, 5});
  EXPECT_NEAR(reinforce_loss(log_p, advantage).item(), (2 - 2 + 15) / 3.0, 1e-5);
  EXPECT_NEAR(reinforce_loss(log_p, advantage, Tensor::of({3}, {1, 1, 0})).item(), 0, 1e-5);
  EXPECT_EQ(reinforce_loss(log_p, advantage, Tensor::zeros({3})).item(), 0) << "nothing counts";
}

TEST(Reinforce, RefusesWhatItCannotUse) {
  Random random(1);
  expect_refusal([&] { Reinforce({.baseline = "moving_avarage"}, 0, random); }, "the nearest is \"moving_average\"");
  expect_refusal([&] { Reinforce({.baseline = "learned"}, 0, random); }, "needs features, got width 0");
  expect_refusal([&] { Reinforce({.decay = 1}, 0, random); }, "decay must be in [0, 1), got 1");
  expect_refusal([&] { Reinforce({.discount = 1.5}, 0, random); }, "discount must be in [0, 1], got 1.5");
  const Reinforce learned({.baseline = "learned"}, 2, random);
  const Tensor two = Tensor::zeros({1, 2});
  expect_refusal([&] { learned(two, two, {}, two); }, "expected features [B,T,F]");
  expect_refusal([&] { learned(two, two, {}, Tensor::zeros({2, 1})); }, "expected rewards, ln p and counts [B,T]");
  expect_refusal([&] { reinforce_loss(two, Tensor::zeros({2, 1})); }, "of one shape, got [1, 2], [2, 1]");
}

}  // namespace
}  // namespace attend::test
