// Sums over paths on every instruction set, against the recursions as they are written.
#include "attend/kernels/ctc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attend/base/log_add.h"
#include "tests/kernels/numbers.h"
#include "tests/support/targets.h"

namespace attend::kernels {
namespace {

struct CtcCase {
  size_t frames, classes;
  std::vector<int32_t> target;
  double scale = 1;
};

std::vector<int32_t> labels_of(size_t count, size_t classes) {
  std::vector<int32_t> target(count);
  for (size_t i = 0; i < count; ++i)
    target[i] = 1 + static_cast<int32_t>((i * i / 3) % (classes - 1));  // some twice in a row
  return target;
}

std::vector<int32_t> with_blanks(const std::vector<int32_t>& target) {
  std::vector<int32_t> states(2 * target.size() + 1, 0);
  for (size_t i = 0; i < target.size(); ++i) states[2 * i + 1] = target[i];
  return states;
}

std::vector<real> log_sums_of(const std::vector<real>& logits, size_t classes) {
  std::vector<real> sums;
  for (size_t row = 0; row < logits.size() / classes; ++row) {
    double sum = 0;
    for (size_t v = 0; v < classes; ++v) sum += std::exp(double{logits[row * classes + v]});
    sums.push_back(static_cast<real>(std::log(sum)));
  }
  return sums;
}

/// ln p and the occupancy [frames,states], one sum after the other.
double paths_by_loops(const std::vector<double>& log_p, size_t frames, const std::vector<int32_t>& states,
                      std::vector<double>& occupancy) {
  const size_t S = states.size();
  const auto skips = [&](size_t s) { return s >= 2 && s % 2 == 1 && states[s] != states[s - 2]; };
  std::vector<double> alpha(frames * S, kLogZero), beta(frames * S, kLogZero);
  for (size_t t = 0; t < frames; ++t) {
    for (size_t s = 0; s < S; ++s) {
      double a = t == 0 ? (s < 2 ? 0 : kLogZero) : alpha[(t - 1) * S + s];
      if (t > 0 && s >= 1) a = log_add(a, alpha[(t - 1) * S + s - 1]);
      if (t > 0 && skips(s)) a = log_add(a, alpha[(t - 1) * S + s - 2]);
      alpha[t * S + s] = a + log_p[t * S + s];
    }
  }
  for (size_t t = frames; t-- > 0;) {
    for (size_t s = 0; s < S; ++s) {
      double b = t + 1 == frames ? (s + 2 >= S ? 0 : kLogZero) : kLogZero;
      for (size_t next = s; t + 1 < frames && next < std::min(S, s + 3); ++next) {
        if (next < s + 2 || skips(next)) b = log_add(b, beta[(t + 1) * S + next] + log_p[(t + 1) * S + next]);
      }
      beta[t * S + s] = b;
    }
  }
  const double* last = &alpha[(frames - 1) * S];
  const double p = S == 1 ? last[0] : log_add(last[S - 1], last[S - 2]);
  occupancy.resize(frames * S);
  for (size_t i = 0; i < occupancy.size(); ++i) occupancy[i] = std::exp(alpha[i] + beta[i] - p);
  return p;
}

TEST(Ctc, PathsAndTheirSharesAreThoseOfTheRecursion) {
  const CtcCase cases[] = {{1, 3, {}},
                           {1, 3, {2}},
                           {4, 3, {}},
                           {3, 3, {1, 1}},
                           {9, 5, labels_of(3, 5)},
                           {20, 7, labels_of(7, 7)},
                           {40, 7, labels_of(8, 7)},
                           {60, 9, labels_of(23, 9), 6},
                           {1500, 12, labels_of(300, 12), 8}};  // probabilities far below what a double holds
  for (const CtcCase& c : cases) {
    const size_t stride = 2 * c.classes;  // every second row is another sequence's
    std::vector<real> logits = normal_numbers(c.frames * stride, c.frames);
    for (real& x : logits) x = static_cast<real>(c.scale * x);
    const std::vector<real> sums = log_sums_of(logits, c.classes);
    const std::vector<int32_t> states = with_blanks(c.target);
    std::vector<double> log_p, expected;
    for (size_t t = 0; t < c.frames; ++t) {
      for (const int32_t s : states) {
        log_p.push_back(double{logits[t * stride + static_cast<size_t>(s)]} - double{sums[2 * t]});
      }
    }
    const double p = paths_by_loops(log_p, c.frames, states, expected);
    test::on_every_instruction_set([&] {
      std::vector<real> occupancy(c.frames * states.size() + 1, kGuard);
      const CtcPaths paths{logits.data(), sums.data(), c.frames, stride, 2, states.data(), states.size()};
      ASSERT_NEAR(ctc_paths(paths, occupancy.data()), p, 1e-11 * (1 + std::abs(p))) << c.frames;
      ASSERT_EQ(ctc_paths(paths, nullptr), ctc_paths(paths, occupancy.data()));
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(double{occupancy[i]}, expected[i], sizeof(real) == 8 ? 1e-9 : 1e-6) << c.frames << ", " << i;
      }
      ASSERT_EQ(occupancy.back(), kGuard);
    });
  }
}

TEST(Ctc, WhatNoPathSaysHasNoProbability) {
  const std::vector<real> logits(12, 0), sums(4, static_cast<real>(std::log(3.0)));
  const std::vector<int32_t> twice = with_blanks({1, 1}), empty = with_blanks({});
  const real inf = std::numeric_limits<real>::infinity();
  std::vector<real> without = logits;
  for (size_t t = 0; t < 4; ++t) without[3 * t + 1] = -inf;
  std::vector<real> broken = logits;
  broken[4] = std::numeric_limits<real>::quiet_NaN();
  test::on_every_instruction_set([&] {
    const auto p = [&](const std::vector<real>& x, size_t frames, const std::vector<int32_t>& states) {
      return ctc_paths({x.data(), sums.data(), frames, 3, 1, states.data(), states.size()}, nullptr);
    };
    EXPECT_EQ(p(logits, 2, twice), kLogZero) << "takes three frames";
    EXPECT_NEAR(p(logits, 3, twice), -3 * std::log(3.0), 1e-6);
    EXPECT_EQ(p(logits, 0, empty), 0);
    EXPECT_EQ(p(logits, 0, twice), kLogZero);
    EXPECT_EQ(p(without, 4, twice), kLogZero);
    EXPECT_NEAR(p(without, 4, empty), -4 * std::log(3.0), 1e-6);
    EXPECT_TRUE(std::isnan(p(broken, 4, twice)));
  });
}

TEST(Ctc, GradientIsTheSoftmaxWithoutTheOccupancy) {
  for (const size_t n : {1, 3, 8, 17, 100}) {
    const std::vector<real> x = normal_numbers(n + 1, n);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += std::exp(double{x[i + 1]});
    const std::vector<int32_t> states{0, static_cast<int32_t>(n - 1), 0};
    const std::vector<real> occupancy{real(0.25), real(0.5), real(0.125)};
    test::on_every_instruction_set([&] {
      std::vector<real> dx(n + 2, kGuard);
      ctc_gradient(x.data() + 1, static_cast<real>(std::log(sum)), n, states.data(), occupancy.data(), 3, 2,
                   dx.data() + 1);
      for (size_t i = 0; i < n; ++i) {
        double expected = 2 * std::exp(double{x[i + 1]}) / sum;
        if (i == 0) expected -= 2 * 0.375;
        if (i == n - 1) expected -= 2 * 0.5;
        ASSERT_NEAR(double{dx[i + 1]}, expected, 1e-6) << n << ", " << i;
      }
      ASSERT_EQ(dx.front(), kGuard);
      ASSERT_EQ(dx.back(), kGuard);
    });
  }
}

}  // namespace
}  // namespace attend::kernels
