// Coverage and its penalties against plain loops, with their gradients.
#include "attend/attention/coverage.h"

#include "tests/attention/cases.h"

namespace attend::test {
namespace {

constexpr int64_t B = 3, T = 4, S = 5;

/// Weights whose rows sum to one.
Array weights() {
  Random random(2);
  Array a = random_array({B, T, S}, random);
  for (int64_t r = 0; r < B * T; ++r) {
    double sum = 0;
    for (int64_t i = 0; i < S; ++i)
      sum += a.v[static_cast<size_t>(r * S + i)] = std::exp(a.v[static_cast<size_t>(r * S + i)]);
    for (int64_t i = 0; i < S; ++i) a.v[static_cast<size_t>(r * S + i)] /= sum;
  }
  return a;
}

int64_t length(const std::vector<int32_t>& lengths, int64_t b, int64_t all) {
  return lengths.empty() ? all : lengths[static_cast<size_t>(b)];
}

/// How many steps count; 1 where none does, as nothing is then to be divided.
double steps(const std::vector<int32_t>& targets) {
  double count = 0;
  for (int64_t b = 0; b < B; ++b) count += static_cast<double>(length(targets, b, T));
  return std::max(count, 1.0);
}

double penalty(const Array& a, const std::vector<int32_t>& targets) {
  double sum = 0;
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t i = 0; i < S; ++i) {
      double covered = 0;
      for (int64_t t = 0; t < length(targets, b, T); ++t) {
        sum += std::min(a(b, t, i), covered);
        covered += a(b, t, i);
      }
    }
  }
  return sum / steps(targets);
}

double doubly(const Array& a, const std::vector<int32_t>& targets, const std::vector<int32_t>& sources) {
  double sum = 0;
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t i = 0; i < length(sources, b, S); ++i) {
      double read = 0;
      for (int64_t t = 0; t < length(targets, b, T); ++t) read += a(b, t, i);
      sum += (1 - read) * (1 - read);
    }
  }
  return sum / steps(targets);
}

/// Every element of the gradient of `f` against the slope of its plain `reference`.
template <class F, class Reference>
void check(F f, Reference reference) {
  const Array a = weights();
  const Var x = Var::leaf(to_tensor(a));
  {
    Tape tape;
    const Var y = f(x);
    EXPECT_NEAR(y.item(), reference(a), kSame);
    tape.backward(y);
  }
  ASSERT_TRUE(x.gradient().defined());
  for (size_t i = 0; i < a.size(); ++i) {
    const double h = 1e-6;
    Array up = a, down = a;
    up.v[i] += h, down.v[i] -= h;
    EXPECT_NEAR(x.gradient().data()[i], (reference(up) - reference(down)) / (2 * h), kDouble ? 1e-8 : 1e-4) << i;
  }
}

const std::vector<int32_t> kNone, kTargets{4, 2, 0}, kNoTargets{0, 0, 0}, kSources{5, 3, 1};

TEST(Coverage, BeforeEachStepIsTheSumOfTheEarlierOnes) {
  const Array a = weights();
  const Array got = to_array(coverage_before(to_tensor(a)).value());
  ASSERT_EQ(got.shape, a.shape);
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t i = 0; i < S; ++i) {
      double covered = 0;
      for (int64_t t = 0; t < T; ++t) {
        EXPECT_NEAR(got(b, t, i), covered, kSame);
        covered += a(b, t, i);
      }
    }
  }
}

TEST(Coverage, PenaltyEqualsPlainLoops) {
  for (const auto& targets : {kNone, kTargets, kNoTargets}) {
    check([&](const Var& w) { return coverage_penalty(w, targets); },
          [&](const Array& a) { return penalty(a, targets); });
  }
}

TEST(Coverage, ReadingApartCostsNothing) {
  Tensor apart = Tensor::zeros({1, 3, 3});
  for (int64_t t = 0; t < 3; ++t) apart.data()[t * 4] = 1;
  EXPECT_EQ(coverage_penalty(apart).item(), 0);
  EXPECT_EQ(doubly_stochastic_penalty(apart).item(), 0);
  Tensor same = Tensor::zeros({1, 3, 3});
  for (int64_t t = 0; t < 3; ++t) same.data()[t * 3] = 1;
  EXPECT_NEAR(coverage_penalty(same).item(), 2.0 / 3, 1e-6) << "of three steps";
  EXPECT_NEAR(doubly_stochastic_penalty(same).item(), (4 + 1 + 1) / 3.0, 1e-6);
}

TEST(Coverage, DoublyStochasticEqualsPlainLoops) {
  for (const auto& targets : {kNone, kTargets, kNoTargets}) {
    for (const auto& sources : {kNone, kSources}) {
      check([&](const Var& w) { return doubly_stochastic_penalty(w, targets, sources); },
            [&](const Array& a) { return doubly(a, targets, sources); });
    }
  }
}

TEST(Coverage, RefusesOtherShapesAndLengths) {
  expect_refusal(
      [] {
        coverage_before(Tensor::zeros({2, 3}));
      },
      "coverage_before: expected weights [B,T,S], got [2, 3]");
  const Tensor w = Tensor::zeros({2, 3, 4});
  for (const std::vector<int32_t>& bad :
       {std::vector<int32_t>{1}, std::vector<int32_t>{1, 4}, std::vector<int32_t>{-1, 2}}) {
    expect_refusal([&] { coverage_penalty(w, bad); }, "coverage_penalty: ");
    expect_refusal([&] { doubly_stochastic_penalty(w, bad); }, "doubly_stochastic_penalty: ");
  }
  expect_refusal([&] { doubly_stochastic_penalty(w, {}, std::vector<int32_t>{5, 1}); }, "doubly_stochastic_penalty: ");
}

/// One step of attention moves with what has been read, and by γ or inside the score alone.
TEST(Coverage, MovesTheWeightsOfEveryScore) {
  Random random(4);
  const Tensor queries = random_tensor({2, 1, 8}, random), keys = random_tensor({2, 5, 8}, random);
  Tensor read = Tensor::zeros({2, 5});
  read.data()[1] = 2;  // of the first sequence alone
  for (const ScoreRow& score : scores()) {
    SCOPED_TRACE(std::string(score.name));
    AttentionConfig config = small_config(score.name, "none", "softmax", 2);
    config.coverage = true;
    const Attention attention = random_attention(config);
    const AttentionMemory memory = attention.prepare(keys, keys);
    const Tensor before = attention(queries, memory, {.weights = true}).weights.value();
    const Tensor after = attention(queries, memory, {.weights = true, .coverage = Var(read)}).weights.value();
    for (int64_t h = 0; h < 2; ++h) {
      EXPECT_NE(after.data()[h * 5 + 1], before.data()[h * 5 + 1]) << "head " << h;
      // The others keep their ratio: only the energy of the place that was read has changed.
      EXPECT_NEAR(after.data()[h * 5] / after.data()[h * 5 + 2], before.data()[h * 5] / before.data()[h * 5 + 2],
                  1e-4 * before.data()[h * 5] / before.data()[h * 5 + 2]);
    }
    expect_near(slice(after, 0, 1, 2).value(), slice(before, 0, 1, 2).value());
  }
}

}  // namespace
}  // namespace attend::test
