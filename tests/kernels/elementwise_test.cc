// Element-wise kernels on every instruction set against plain double loops: sizes around a vector, misaligned starts, and
// sizes that are written past the caches. The functions' errors are bounded in units in the last place.
#include "attend/kernels/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "attend/base/random.h"
#include "tests/kernels/numbers.h"
#include "tests/support/targets.h"

namespace attend::kernels {
namespace {

using test::on_every_instruction_set;

constexpr bool kDouble = sizeof(real) == sizeof(double);

// 0, 1, N−1, N, N+1 for vectors of 2, 4, 8 and 16 elements.
const size_t kSizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 1000};

std::vector<real> uniform_numbers(size_t count, uint64_t stream, double low = -2, double high = 2) {
  Random random(1, stream);
  std::vector<real> x(count);
  for (real& v : x) v = static_cast<real>(low + (high - low) * random.uniform53());
  return x;
}

/// |got − expected| in units in the last place of `real` at expected.
double ulps(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  const real w = static_cast<real>(expected);
  if (!std::isfinite(got) || !std::isfinite(w)) return static_cast<real>(got) == w ? 0 : 1e30;
  const double unit = std::max<double>(std::abs(std::nextafter(w, std::numeric_limits<real>::infinity()) - w),
                                       std::numeric_limits<real>::min() * std::numeric_limits<real>::epsilon());
  return std::abs(got - expected) / unit;
}

struct FunctionRow {
  const char* name;
  Unary f;
  double (*value)(double);
  double (*slope)(double);
  double low, high;  // range over which the bound is checked
  double bound;      // ULP in float
};

double sigma(double x) { return 1 / (1 + std::exp(-x)); }
double cumulative(double x) { return 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }
double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0)); }

// The bounds that attend/kernels/math-inl.h states. gelu nears zero by cancellation: its error is bounded relative to x.
const FunctionRow kFunctions[] = {
    {"exp", Unary::exp, [](double x) { return std::exp(x); }, [](double x) { return std::exp(x); }, -87, 88, 2},
    {"log", Unary::log, [](double x) { return std::log(x); }, [](double x) { return 1 / x; }, 1e-30, 1e30, 4},
    {"tanh", Unary::tanh, [](double x) { return std::tanh(x); }, [](double x) { return 1 - std::pow(std::tanh(x), 2); },
     -12, 12, 7},
    {"sigmoid", Unary::sigmoid, sigma, [](double x) { return sigma(x) * (1 - sigma(x)); }, -87, 88, 4},
    {"relu", Unary::relu, [](double x) { return x > 0 ? x : 0; }, [](double x) { return x > 0 ? 1.0 : 0.0; }, -9, 9, 0},
    {"relu6", Unary::relu6, [](double x) { return x > 6 ? 6.0 : x > 0 ? x : 0; },
     [](double x) { return x > 0 && x < 6 ? 1.0 : 0.0; }, -9, 9, 0},
    {"gelu", Unary::gelu, [](double x) { return x * cumulative(x); },
     [](double x) { return cumulative(x) + x * density(x); }, -9, 9, -1},
};

double low_of(const FunctionRow& row) { return row.f == Unary::log ? 0.1 : -2; }

TEST(Elementwise, UnaryAtEverySizeAndOffset) {
  on_every_instruction_set([] {
    for (const FunctionRow& row : kFunctions) {
      for (const size_t n : kSizes) {
        for (const size_t offset : {0, 1, 3}) {
          const std::vector<real> x = uniform_numbers(n + offset, n, low_of(row), 2),
                                  dy = uniform_numbers(n + offset, n + 1);
          std::vector<real> y(n + offset + 1, kGuard), dx = y;
          unary(row.f, x.data() + offset, y.data() + offset, n);
          const std::vector<real>& kept = keeps_output(row.f) ? y : x;
          unary_backward(row.f, dy.data() + offset, kept.data() + offset, dx.data() + offset, n);
          for (size_t i = offset; i < n + offset; ++i) {
            ASSERT_NEAR(y[i], row.value(x[i]), 2e-6) << row.name << " size " << n << " offset " << offset;
            ASSERT_NEAR(dx[i], dy[i] * row.slope(x[i]), 2e-5) << row.name << " slope, size " << n;
          }
          ASSERT_EQ(y[n + offset], kGuard) << row.name << " wrote past its end";
          ASSERT_EQ(dx[n + offset], kGuard) << row.name << " wrote past its end";
        }
      }
    }
  });
}

TEST(Elementwise, FunctionsStayWithinTheirUlpBounds) {
  on_every_instruction_set([] {
    for (const FunctionRow& row : kFunctions) {
      const size_t n = 200000;
      std::vector<real> x(n), y(n);
      for (size_t i = 0; i < n; ++i) {
        const double share = static_cast<double>(i) / (n - 1);
        // Half of the points evenly, half by powers of ten towards zero; log by powers throughout.
        if (row.f == Unary::log) {
          x[i] = static_cast<real>(std::pow(10.0, -30 + 60 * share));
        } else if (i % 2 == 0) {
          x[i] = static_cast<real>(row.low + (row.high - row.low) * share);
        } else {
          x[i] = static_cast<real>((i % 4 == 1 ? 1 : -1) * std::pow(10.0, -20 + 21 * share));
          if (x[i] < row.low || x[i] > row.high) x[i] = 0;
        }
      }
      unary(row.f, x.data(), y.data(), n);
      double worst = 0, at = 0, absolute = 0;
      for (size_t i = 0; i < n; ++i) {
        const double expected = row.value(x[i]), gap = ulps(y[i], expected);
        if (gap > worst) worst = gap, at = x[i];
        absolute = std::max(absolute, std::abs(y[i] - expected) / std::max(1.0, std::abs(double{x[i]})));
      }
      if (row.bound >= 0) {
        // Our reference is double itself: it cannot tell the last bits of the double build.
        EXPECT_LE(worst, kDouble ? 8 : row.bound) << row.name << " at " << at;
      } else {
        EXPECT_LE(absolute, kDouble ? 1e-14 : 4e-7) << row.name;
      }
      RecordProperty(std::string(row.name) + "_ulp", std::to_string(worst));
    }
  });
}

TEST(Elementwise, SpecialValues) {
  const real inf = std::numeric_limits<real>::infinity(), nan = std::numeric_limits<real>::quiet_NaN();
  const std::vector<real> x{inf, -inf, nan, 0, 1000, -1000, 89, -104, 1};
  on_every_instruction_set([&] {
    const auto f = [&](Unary which) {
      std::vector<real> y(x.size());
      unary(which, x.data(), y.data(), x.size());
      return y;
    };
    const std::vector<real> e = f(Unary::exp), t = f(Unary::tanh), s = f(Unary::sigmoid), l = f(Unary::log);
    EXPECT_EQ(e[0], inf);
    EXPECT_EQ(e[1], 0);
    EXPECT_TRUE(std::isnan(e[2]));
    EXPECT_EQ(e[3], 1);
    EXPECT_EQ(e[4], inf);
    EXPECT_EQ(e[5], 0);
    EXPECT_EQ(t[0], 1);
    EXPECT_EQ(t[1], -1);
    EXPECT_TRUE(std::isnan(t[2]));
    EXPECT_EQ(t[3], 0);
    EXPECT_EQ(t[4], 1);
    EXPECT_EQ(s[0], 1);
    EXPECT_EQ(s[1], 0);
    EXPECT_TRUE(std::isnan(s[2]));
    EXPECT_EQ(s[3], real(0.5));
    EXPECT_EQ(l[0], inf);
    EXPECT_TRUE(std::isnan(l[1]));
    EXPECT_EQ(l[3], -inf);
    EXPECT_EQ(l[8], 0);
  });
}

TEST(Elementwise, BinaryAtEverySizeAndOffset) {
  const std::pair<Binary, double (*)(double, double)> rows[] = {
      {Binary::add, [](double a, double b) { return a + b; }},
      {Binary::subtract, [](double a, double b) { return a - b; }},
      {Binary::multiply, [](double a, double b) { return a * b; }},
      {Binary::divide, [](double a, double b) { return a / b; }}};
  on_every_instruction_set([&] {
    for (const auto& [f, expected] : rows) {
      for (const size_t n : kSizes) {
        for (const size_t offset : {0, 1, 3}) {
          for (int steps = 0; steps < 4; ++steps) {
            const size_t a_step = steps & 1, b_step = steps >> 1;
            const std::vector<real> a = uniform_numbers(n + offset + 1, 2),
                                    b = uniform_numbers(n + offset + 1, 3, 0.5, 2);
            std::vector<real> out(n + offset + 1, kGuard);
            binary(f, a.data() + offset, a_step, b.data() + offset, b_step, out.data() + offset, n);
            for (size_t i = 0; i < n; ++i) {
              ASSERT_NEAR(out[offset + i], expected(a[offset + i * a_step], b[offset + i * b_step]), 1e-6);
            }
            ASSERT_EQ(out[n + offset], kGuard);
          }
        }
      }
    }
  });
}

TEST(Elementwise, Affine) {
  on_every_instruction_set([] {
    for (const size_t n : kSizes) {
      const std::vector<real> a = uniform_numbers(n, 4);
      std::vector<real> y(n + 1, kGuard);
      affine(a.data(), 3, -1, y.data(), n);
      for (size_t i = 0; i < n; ++i) ASSERT_NEAR(y[i], 3.0 * a[i] - 1, 1e-6);
      ASSERT_EQ(y[n], kGuard);
    }
  });
}

TEST(Elementwise, LargeOutputsPastTheCaches) {
  const size_t n = (size_t{5} << 20) + 5;
  const std::vector<real> x = uniform_numbers(n, 7);
  std::vector<real> memory(n + 64);
  on_every_instruction_set([&] {
    for (const size_t offset : {0, 1}) {
      // Aligned to 64 bytes, then one element further.
      real* y = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) / sizeof(real) % 16 + offset;
      affine(x.data(), 2, 1, y, n);
      for (size_t i = 0; i < n; i += 9973) ASSERT_EQ(y[i], 2 * x[i] + 1);
      ASSERT_EQ(y[n - 1], 2 * x[n - 1] + 1);
    }
  });
}

TEST(Elementwise, DropoutDrawsTheSameNumbersEverywhere) {
  const size_t n = 1000;
  const std::vector<real> x(n, 1);
  std::vector<std::vector<real>> results;
  on_every_instruction_set([&] {
    std::vector<real> y(n);
    dropout(x.data(), real(0.75), 42, y.data(), n);
    results.push_back(y);
  });
  for (const auto& y : results) EXPECT_EQ(y, results.front());
  for (size_t i = 0; i < n; ++i) {  // attend/kernels/random-inl.h, word by word
    const uint32_t word = philox({static_cast<uint32_t>(i / 64 * 8 + i % 8), 0, 0, 0x64726F70}, 42)[i % 32 / 8];
    ASSERT_EQ(results[0][i] != 0, (i % 64 < 32 ? word & 0xFFFF : word >> 16) < 0xC000u) << i;
  }
  size_t kept = 0;
  for (const real y : results[0]) kept += y != 0;
  EXPECT_NEAR(static_cast<double>(kept) / n, 0.75, 0.05);
}

}  // namespace
}  // namespace attend::kernels
