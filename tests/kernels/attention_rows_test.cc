// Attention of single queries on every instruction set, against plain double loops.
#include "attend/kernels/attention_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attend/base/random.h"
#include "tests/kernels/numbers.h"
#include "tests/support/targets.h"

namespace attend::kernels {
namespace {

/// Weights [rows, heads, stride], then out [rows, heads·depth].
std::vector<double> reference(const RowAttention& p) {
  const size_t width = p.heads * p.depth;
  std::vector<double> all(p.rows * (p.heads * p.stride + width), 0.0);
  double *weights = all.data(), *out = all.data() + p.rows * p.heads * p.stride;
  for (size_t n = 0; n < p.rows; ++n) {
    for (size_t h = 0; h < p.heads; ++h) {
      double* w = weights + (n * p.heads + h) * p.stride;
      const size_t count = static_cast<size_t>(p.counts[n]);
      const auto row = [&](const real* pool, size_t j) {
        return pool + static_cast<size_t>(p.index[n * p.stride + j]) * width + h * p.depth;
      };
      double sum = 0;
      for (size_t j = 0; j < count; ++j) {
        double energy = 0;
        for (size_t d = 0; d < p.depth; ++d) {
          energy += double{p.q[n * width + h * p.depth + d]} * double{row(p.keys, j)[d]};
        }
        sum += w[j] = std::exp(double{p.scale} * energy);
      }
      for (size_t j = 0; j < count; ++j) {
        w[j] /= sum;
        for (size_t d = 0; d < p.depth; ++d) out[n * width + h * p.depth + d] += w[j] * double{row(p.values, j)[d]};
      }
    }
  }
  return all;
}

void check_rows(size_t rows, size_t heads, size_t depth, size_t stride, size_t offset) {
  SCOPED_TRACE(testing::Message() << rows << " rows, " << heads << " heads of " << depth << ", stride " << stride
                                  << ", offset " << offset);
  constexpr size_t kPool = 23;
  const size_t width = heads * depth;
  const std::vector<real> q = normal_numbers(rows * width + offset, 1),
                          keys = normal_numbers(kPool * width + offset, 2),
                          values = normal_numbers(kPool * width + offset, 3);
  Random random(4);
  std::vector<int32_t> index(rows * stride), counts(rows);
  for (int32_t& i : index) i = static_cast<int32_t>(random.below(kPool));
  for (size_t n = 0; n < rows; ++n)
    counts[n] = static_cast<int32_t>(n == 1 ? 0 : n % 3 == 0 ? stride : random.below(stride + 1));
  const RowAttention p{.rows = rows,
                       .heads = heads,
                       .depth = depth,
                       .scale = real(0.4),
                       .q = q.data() + offset,
                       .keys = keys.data() + offset,
                       .values = values.data() + offset,
                       .index = index.data(),
                       .stride = stride,
                       .counts = counts.data()};
  const std::vector<double> expected = reference(p);
  const size_t cells = rows * heads * stride;
  std::vector<real> out(rows * width + offset + 1, kGuard), alone = out, weights(cells + offset + 1, kGuard);
  attention_rows(p, out.data() + offset, weights.data() + offset);
  attention_rows(p, alone.data() + offset, nullptr);
  ASSERT_EQ(out, alone) << "weights that are asked for change nothing";
  for (size_t i = 0; i < cells; ++i) {
    ASSERT_NEAR(weights[offset + i], expected[i], 1e-5) << "weight " << i;
    if (expected[i] == 0) {
      ASSERT_EQ(weights[offset + i], 0) << "weight " << i;
    }
  }
  for (size_t i = 0; i < rows * width; ++i) ASSERT_NEAR(out[offset + i], expected[cells + i], 1e-5) << "output " << i;
  ASSERT_EQ(out.back(), kGuard);
  ASSERT_EQ(weights.back(), kGuard);
}

TEST(AttentionRows, EqualsPlainLoops) {
  test::on_every_instruction_set([] {
    for (const size_t depth : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64}) {
      for (const size_t stride : {1, 2, 7, 8, 9, 16, 17, 40}) {
        for (const size_t offset : {0, 1}) check_rows(4, 2, depth, stride, offset);
      }
    }
    check_rows(1, 1, 8, 5, 0);
    check_rows(37, 3, 6, 12, 3);
  });
}

TEST(AttentionRows, LargeEnergiesDoNotOverflow) {
  test::on_every_instruction_set([] {
    const std::vector<real> q{1000, 0}, keys{1, 0, -1, 0, real(0.999), 0}, values{1, 2, 3, 4, 5, 6};
    const int32_t index[] = {0, 1, 2}, counts[] = {3};
    std::vector<real> out(2), weights(3);
    attention_rows({.rows = 1,
                    .heads = 1,
                    .depth = 2,
                    .scale = 1,
                    .q = q.data(),
                    .keys = keys.data(),
                    .values = values.data(),
                    .index = index,
                    .stride = 3,
                    .counts = counts},
                   out.data(), weights.data());
    const double p = 1 / (1 + std::exp(-1.0));
    EXPECT_NEAR(weights[0], p, 1e-4);
    EXPECT_NEAR(weights[1], 0, 1e-12);
    EXPECT_NEAR(out[0], p + 5 * (1 - p), 1e-3);
  });
}

}  // namespace
}  // namespace attend::kernels
