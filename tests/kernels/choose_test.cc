// Choosing from rows on every instruction set, against sorting in plain loops.
#include "attend/kernels/choose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attend/base/random.h"
#include "tests/support/targets.h"

namespace attend::kernels {
namespace {

constexpr real kInfinite = std::numeric_limits<real>::infinity();

struct Chosen {
  std::vector<double> log_sum;
  std::vector<real> largest;
  std::vector<int32_t> place;
};

Chosen chosen(Choices problem) {
  Chosen c{std::vector<double>(problem.rows), std::vector<real>(problem.rows * problem.k + 1, 77),
           std::vector<int32_t>(problem.rows * problem.k + 1, 77)};
  choose(problem, c.log_sum.data(), c.largest.data(), c.place.data());
  EXPECT_EQ(c.largest.back(), 77);
  EXPECT_EQ(c.place.back(), 77);
  return c;
}

TEST(Choose, EqualsSorting) {
  test::on_every_instruction_set([] {
    for (const size_t n : {1, 2, 7, 8, 9, 17, 63, 64, 65, 129, 1000}) {
      for (const size_t k : {1, 2, 5, 70}) {
        for (const size_t offset : {0, 1, 3}) {
          const size_t rows = 40;  // with 1000 columns: several tasks
          Random random(1, n * 100 + k);
          std::vector<real> x(rows * n + offset);
          // Halves: many are equal.
          for (real& v : x) v = static_cast<real>(std::round(2 * random.normal()) / 2);
          std::vector<int32_t> banned;
          std::vector<size_t> from{0};
          for (size_t r = 0; r < rows; ++r) {
            for (size_t j = 0; j < r % 3; ++j) banned.push_back(static_cast<int32_t>(random.below(n)));
            from.push_back(banned.size());
          }
          const Chosen c = chosen({x.data() + offset, rows, n, k, banned.data(), from.data()});
          for (size_t r = 0; r < rows; ++r) {
            const real* row = x.data() + offset + r * n;
            double sum = 0;
            std::vector<int32_t> order;
            for (size_t i = 0; i < n; ++i) {
              sum += std::exp(double{row[i]});
              const auto end = banned.begin() + static_cast<std::ptrdiff_t>(from[r + 1]);
              const auto begin = banned.begin() + static_cast<std::ptrdiff_t>(from[r]);
              if (std::find(begin, end, static_cast<int32_t>(i)) == end) order.push_back(static_cast<int32_t>(i));
            }
            std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
            ASSERT_NEAR(c.log_sum[r], std::log(sum), 1e-5) << n;
            for (size_t j = 0; j < k; ++j) {
              ASSERT_EQ(c.place[r * k + j], j < order.size() ? order[j] : -1) << "n " << n << " k " << k;
              if (j < order.size()) {
                ASSERT_EQ(c.largest[r * k + j], row[order[j]]);
              }
            }
          }
        }
      }
    }
  });
}

// ln p = −ln(1 + Σ e^(x−m)) of the likeliest is tiny where the model is sure, and all its digits count.
TEST(Choose, LogProbabilitiesOfTheNearlyCertainKeepTheirDigits) {
  test::on_every_instruction_set([] {
    for (const size_t n : {2, 9, 64, 65, 1000}) {
      for (const size_t sure : {size_t{0}, n / 2, n - 1}) {
        for (const double above : {8, 14, 20}) {
          Random random(1, n);
          std::vector<real> x(n);
          for (real& v : x) v = static_cast<real>(random.normal());
          x[sure] = static_cast<real>(above);
          double others = 0;
          for (size_t i = 0; i < n; ++i) others += i == sure ? 0 : std::exp(double{x[i]} - double{x[sure]});
          const double expected = -std::log1p(others);
          const Chosen c = chosen({x.data(), 1, n, 1});
          ASSERT_NEAR((double{x[sure]} - c.log_sum[0]) / expected, 1, 1e-5) << n << ", " << above;
        }
      }
    }
  });
}

TEST(Choose, WhatIsInfinitelyUnlikelyIsNotChosen) {
  test::on_every_instruction_set([] {
    std::vector<real> x(100, -kInfinite);
    x[71] = 3;
    const Chosen c = chosen({x.data(), 1, x.size(), 2});
    EXPECT_EQ(c.place[0], 71);
    EXPECT_EQ(c.place[1], -1);
    EXPECT_NEAR(c.log_sum[0], 3, 1e-6);
  });
}

TEST(Choose, RowsWithoutNumbersShow) {
  test::on_every_instruction_set([] {
    const std::vector<real> nan(100, std::numeric_limits<real>::quiet_NaN()), lowest(100, -kInfinite);
    EXPECT_FALSE(std::isfinite(chosen({nan.data(), 1, 100, 1}).log_sum[0]));
    EXPECT_FALSE(std::isfinite(chosen({lowest.data(), 1, 100, 1}).log_sum[0]));
    std::vector<real> infinite(100, 1);
    infinite[5] = kInfinite;
    EXPECT_FALSE(std::isfinite(chosen({infinite.data(), 1, 100, 1}).log_sum[0]));
  });
}

}  // namespace
}  // namespace attend::kernels
