// Kernels along rows on every instruction set: sizes around a vector, misaligned starts, against plain double loops.
#include "attend/kernels/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attend/base/random.h"
#include "tests/kernels/numbers.h"
#include "tests/support/targets.h"

namespace attend::kernels {
namespace {

const size_t kRowSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 1000, 5000};

TEST(Rows, SoftmaxAndLogSoftmax) {
  test::on_every_instruction_set([] {
    for (const size_t n : kRowSizes) {
      for (const size_t offset : {0, 1, 3}) {
        const size_t rows = 3;
        const std::vector<real> x = normal_numbers(rows * n + offset, n);
        std::vector<real> mask(rows * n, 1), y(rows * n + offset + 1, kGuard), log_y = y;
        for (size_t i = 0; i < n; ++i) mask[n + i] = i % 3 == 0, mask[2 * n + i] = 0;
        const uint32_t row_of[] = {0, 1, 2};
        softmax(x.data() + offset, rows, n, {mask.data(), row_of}, y.data() + offset);
        log_softmax(x.data() + offset, rows, n, {mask.data(), row_of}, log_y.data() + offset);
        for (size_t r = 0; r < rows; ++r) {
          double sum = 0;
          for (size_t i = 0; i < n; ++i) sum += mask[r * n + i] != 0 ? std::exp(double{x[offset + r * n + i]}) : 0;
          for (size_t i = 0; i < n; ++i) {
            const size_t at = r * n + i;
            const double p = mask[at] != 0 ? std::exp(double{x[offset + at]}) / sum : 0;
            ASSERT_NEAR(y[offset + at], p, 1e-6) << n;
            if (mask[at] == 0) {
              ASSERT_EQ(y[offset + at], 0);
            }
            ASSERT_NEAR(log_y[offset + at],
                        sum == 0        ? 0
                        : mask[at] != 0 ? std::log(p)
                                        : double{kMaskedLog},
                        1e-5 * (1 + std::abs(log_y[offset + at])));
          }
        }
        ASSERT_EQ(y.back(), kGuard);
        ASSERT_EQ(log_y.back(), kGuard);
      }
    }
  });
}

TEST(Rows, SoftmaxOfExtremes) {
  const real inf = std::numeric_limits<real>::infinity();
  const std::vector<real> x{1000, 999, -1000, -inf, -inf, -inf, 0, -200, 0};
  test::on_every_instruction_set([&] {
    std::vector<real> y(9);
    softmax(x.data(), 3, 3, {}, y.data());
    EXPECT_NEAR(y[0], 1 / (1 + std::exp(-1.0)), 1e-6);
    EXPECT_EQ(y[2], 0);
    EXPECT_EQ(y[3], 0) << "a row of -infinity is as good as masked";
    EXPECT_NEAR(y[6], 0.5, 1e-7);
  });
}

TEST(Rows, LayerNorm) {
  test::on_every_instruction_set([] {
    for (const size_t n : kRowSizes) {
      const size_t rows = 3;
      const std::vector<real> x = normal_numbers(rows * n, n), gain = normal_numbers(n, 1), bias = normal_numbers(n, 2);
      std::vector<real> y(rows * n + 1, kGuard), mean(rows), rstd(rows);
      layer_norm(x.data(), gain.data(), bias.data(), rows, n, real(1e-5), y.data(), mean.data(), rstd.data());
      for (size_t r = 0; r < rows; ++r) {
        double m = 0, v = 0;
        for (size_t i = 0; i < n; ++i) m += x[r * n + i] / static_cast<double>(n);
        for (size_t i = 0; i < n; ++i) v += std::pow(x[r * n + i] - m, 2) / static_cast<double>(n);
        for (size_t i = 0; i < n; ++i) {
          ASSERT_NEAR(y[r * n + i], (x[r * n + i] - m) / std::sqrt(v + 1e-5) * gain[i] + bias[i], 2e-5) << n;
        }
      }
      ASSERT_EQ(y.back(), kGuard);
    }
  });
}

TEST(Rows, CrossEntropyAndSums) {
  test::on_every_instruction_set([] {
    for (const size_t n : kRowSizes) {
      const size_t rows = 4;
      const std::vector<real> x = normal_numbers(rows * n, n);
      const std::vector<int32_t> targets{0, static_cast<int32_t>(n - 1), -1, static_cast<int32_t>(n / 2)};
      const CrossEntropy problem{x.data(), targets.data(), rows, n, real(0.1), -1};
      std::vector<real> loss(rows), log_sum(rows), dx(rows * n + 1, kGuard), columns(n), sums(rows);
      cross_entropy(problem, loss.data(), log_sum.data());
      cross_entropy_backward(problem, log_sum.data(), real(0.5), dx.data());
      sum_columns(x.data(), rows, n, columns.data(), false);
      sum_axis(x.data(), rows, n, 1, sums.data());
      for (size_t r = 0; r < rows; ++r) {
        double sum = 0, total = 0;
        for (size_t i = 0; i < n; ++i) sum += std::exp(double{x[r * n + i]}), total += x[r * n + i];
        ASSERT_NEAR(sums[r], total, 1e-4);
        ASSERT_NEAR(attend::kernels::sum(x.data() + r * n, n), total, 1e-4);
        const bool counts = targets[r] != -1;
        const double expected = std::log(sum) - 0.9 * x[r * n + static_cast<size_t>(counts ? targets[r] : 0)] -
                              0.1 * total / static_cast<double>(n);
        ASSERT_NEAR(loss[r], counts ? expected : 0, 1e-5 * (1 + std::abs(expected)));
        for (size_t i = 0; i < n; ++i) {
          const double share = 0.1 / static_cast<double>(n) + (static_cast<int32_t>(i) == targets[r] ? 0.9 : 0);
          ASSERT_NEAR(dx[r * n + i], counts ? 0.5 * (std::exp(double{x[r * n + i]}) / sum - share) : 0, 1e-6);
        }
      }
      for (size_t i = 0; i < n; ++i)
        ASSERT_NEAR(columns[i], double{x[i]} + x[n + i] + x[2 * n + i] + x[3 * n + i], 1e-5);
      ASSERT_EQ(dx.back(), kGuard);
    }
  });
}

// p − 1 of a target that is nearly certain is −(the sum of the others), of which no digit may be lost.
TEST(Rows, CrossEntropyGradientOfTheNearlyCertainKeepsItsDigits) {
  test::on_every_instruction_set([] {
    for (const size_t n : kRowSizes) {
      if (n < 2) continue;
      for (const size_t sure : {size_t{0}, n / 2, n - 1}) {
        for (const double above : {1, 8, 14, 20}) {
          for (const double smoothing : {0.0, 0.1}) {
            std::vector<real> x = normal_numbers(n, n), dx(n);
            x[sure] = static_cast<real>(above);
            const int32_t target = static_cast<int32_t>(sure);
            const CrossEntropy problem{x.data(), &target, 1, n, static_cast<real>(smoothing), -1};
            real loss = 0, log_sum = 0;
            cross_entropy(problem, &loss, &log_sum);
            cross_entropy_backward(problem, &log_sum, real(-0.5), dx.data());
            double others = 0;
            for (size_t i = 0; i < n; ++i) others += i == sure ? 0 : std::exp(double{x[i]} - double{x[sure]});
            const double p = others / (1 + others);  // of all but the target
            const double spread = static_cast<double>(problem.smoothing) * (1 - 1 / static_cast<double>(n));
            const double expected = -0.5 * (spread - p);
            ASSERT_NEAR(dx[sure], expected, 1e-5 * (smoothing == 0 ? std::abs(expected) : 1)) << n << ", " << above;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace attend::kernels
