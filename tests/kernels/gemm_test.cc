// Products on every instruction set against plain double loops: all transposes, sizes around tiles, panels and blocks,
// leading dimensions larger than the matrix, accumulation, bias; and the same bits for any number of threads.
#include "attend/kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/base/random.h"
#include "attend/kernels/parallel.h"
#include "tests/kernels/numbers.h"
#include "tests/support/targets.h"

namespace attend::kernels {
namespace {

std::vector<real> centred_numbers(size_t count, uint64_t stream) {
  Random random(1, stream);
  std::vector<real> x(count);
  for (real& v : x) v = static_cast<real>(2 * random.uniform53() - 1);
  return x;
}

struct Case {
  size_t m, n, k;
};

void check_product(const Case& c, int kind) {
  const bool ta = kind & 1, tb = kind & 2, accumulate = kind & 4, bias = kind & 8;
  const size_t pad = kind & 16 ? 3 : 0;
  const size_t lda = (ta ? c.m : c.k) + pad, ldb = (tb ? c.k : c.n) + pad, ldc = c.n + pad;
  const std::vector<real> a = centred_numbers((ta ? c.k : c.m) * lda, 1),
                          b = centred_numbers((tb ? c.n : c.k) * ldb, 2);
  const std::vector<real> add = centred_numbers(c.n, 3), before = centred_numbers(c.m * ldc + 1, 4);
  std::vector<real> out = before;
  out.back() = kGuard;
  gemm({.m = c.m,
        .n = c.n,
        .k = c.k,
        .a = a.data(),
        .lda = lda,
        .transpose_a = ta,
        .b = b.data(),
        .ldb = ldb,
        .transpose_b = tb,
        .c = out.data(),
        .ldc = ldc,
        .accumulate = accumulate,
        .bias = bias ? add.data() : nullptr});
  for (size_t i = 0; i < c.m; ++i) {
    for (size_t j = 0; j < ldc; ++j) {
      if (j >= c.n) {
        ASSERT_EQ(out[i * ldc + j], before[i * ldc + j]) << "wrote between rows";
        continue;
      }
      double sum = (accumulate ? before[i * ldc + j] : 0) + (bias ? add[j] : 0);
      for (size_t k = 0; k < c.k; ++k) {
        sum += double{ta ? a[k * lda + i] : a[i * lda + k]} * double{tb ? b[j * ldb + k] : b[k * ldb + j]};
      }
      ASSERT_NEAR(out[i * ldc + j], sum, 2e-6 * (4 + std::sqrt(double(c.k))))
          << c.m << "×" << c.n << "×" << c.k << " kind " << kind;
    }
  }
  ASSERT_EQ(out.back(), kGuard);
}

TEST(Gemm, EveryKindAndSize) {
  test::on_every_instruction_set([] {
    for (const Case& c :
         {Case{1, 1, 1}, {1, 17, 5},  {2, 33, 9},     {3, 5, 300},  {4, 4, 4},  {5, 16, 16},   {6, 31, 7},
          {7, 32, 8},    {8, 65, 33}, {11, 15, 40},   {12, 24, 17}, {13, 7, 3}, {15, 130, 20}, {16, 16, 16},
          {17, 129, 31}, {31, 1, 12}, {97, 131, 259}, {3, 0, 4},    {0, 3, 4},  {18, 5, 0},    {2, 5, 0}}) {
      for (int kind = 0; kind < 32; ++kind) {
        check_product(c, kind);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  });
}

TEST(Gemm, SameBitsForAnyNumberOfThreads) {
  const int threads_before = threads();
  for (const Case& c : {Case{300, 400, 500}, {8, 2000, 300}, {2000, 7, 90}}) {
    std::vector<std::vector<real>> results;
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      const std::vector<real> a = centred_numbers(c.m * c.k, 1), b = centred_numbers(c.n * c.k, 2);
      std::vector<real> out(c.m * c.n);
      gemm({.m = c.m,
            .n = c.n,
            .k = c.k,
            .a = a.data(),
            .lda = c.k,
            .b = b.data(),
            .ldb = c.k,
            .transpose_b = true,
            .c = out.data(),
            .ldc = c.n});
      results.push_back(out);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
  set_threads(threads_before);
}

TEST(Gemm, SteadyRowsHaveTheSameBitsHoweverManyThereAre) {
  for (const auto& [n, k] : {std::pair<size_t, size_t>{9, 5}, {64, 64}, {130, 300}}) {
    const size_t most = 40;
    const std::vector<real> a = centred_numbers(most * k, 1), b = centred_numbers(n * k, 2),
                            bias = centred_numbers(n, 3);
    test::on_every_instruction_set([&, n = n, k = k] {
      for (const bool transposed : {false, true}) {
        const auto rows = [&](size_t first, size_t count) {
          std::vector<real> out(count * n);
          gemm({.m = count,
                .n = n,
                .k = k,
                .a = a.data() + first * k,
                .lda = k,
                .b = b.data(),
                .ldb = transposed ? k : n,
                .transpose_b = transposed,
                .c = out.data(),
                .ldc = n,
                .bias = bias.data()});
          return out;
        };
        const SteadyRows steady;
        const std::vector<real> whole = rows(0, most);
        for (const size_t count : {1, 2, 3, 4, 7, 15, 16, 17}) {
          const std::vector<real> some = rows(5, count);
          ASSERT_TRUE(std::equal(some.begin(), some.end(), whole.begin() + static_cast<std::ptrdiff_t>(5 * n)))
              << count << " of " << n << " by " << k;
        }
      }
    });
  }
}

TEST(Gemm, SteadyRowsOfKeptWeightsHaveTheSameBits) {
  const size_t n = 130, k = 300, most = 40;
  const std::vector<real> a = centred_numbers(most * k, 1), b = centred_numbers(n * k, 2);
  test::on_every_instruction_set([&] {
    for (const bool transposed : {false, true}) {
      const auto rows = [&](size_t count, uint64_t version) {
        std::vector<real> out(count * n);
        gemm({.m = count,
              .n = n,
              .k = k,
              .a = a.data(),
              .lda = k,
              .b = b.data(),
              .ldb = transposed ? k : n,
              .transpose_b = transposed,
              .c = out.data(),
              .ldc = n,
              .version = version});
        return out;
      };
      const SteadyRows steady;
      const std::vector<real> whole = rows(most, 0);
      PackedWeights kept{PackedWeights::Closed{}};
      EXPECT_EQ(PackedWeights::current(), nullptr);
      for (const size_t count : {3, 1, 20, 2}) {
        const PackedWeights::Use use(kept);
        EXPECT_EQ(PackedWeights::current(), &kept);
        const std::vector<real> some = rows(count, 77);
        EXPECT_TRUE(std::equal(some.begin(), some.end(), whole.begin())) << count;
      }
    }
  });
}

TEST(Gemm, BatchesOfSteadyRowsHaveTheSameBitsOnAnyThread) {
  const size_t count = 64, n = 70, k = 300;
  const std::vector<real> a = centred_numbers(count * k, 1), b = centred_numbers(count * n * k, 2);
  test::on_every_instruction_set([&] {
    std::vector<real> all(count * n), one(n);
    const Product first{.m = 1, .n = n, .k = k, .a = a.data(), .lda = k, .b = b.data(), .ldb = k, .transpose_b = true,
                        .c = all.data(), .ldc = n};
    const SteadyRows steady;
    batched_gemm(first, count, k, n * k, n);
    for (size_t i = 0; i < count; ++i) {
      Product alone = first;
      alone.a += i * k, alone.b += i * n * k, alone.c = one.data();
      gemm(alone);
      EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + static_cast<std::ptrdiff_t>(i * n))) << i;
    }
  });
}

TEST(Gemm, BatchesAndTranspose) {
  test::on_every_instruction_set([] {
    const size_t count = 5, m = 9, n = 20, k = 18;
    const std::vector<real> a = centred_numbers(count * m * k, 1), b = centred_numbers(count * k * n, 2);
    std::vector<real> out(count * m * n), one(m * n), turned(m * k);
    batched_gemm({.m = m, .n = n, .k = k, .a = a.data(), .lda = k, .b = b.data(), .ldb = n, .c = out.data(), .ldc = n},
                 count, m * k, k * n, m * n);
    for (size_t i = 0; i < count; ++i) {
      gemm({.m = m,
            .n = n,
            .k = k,
            .a = a.data() + i * m * k,
            .lda = k,
            .b = b.data() + i * k * n,
            .ldb = n,
            .c = one.data(),
            .ldc = n});
      EXPECT_TRUE(std::equal(one.begin(), one.end(), out.begin() + static_cast<std::ptrdiff_t>(i * m * n)));
    }
    transpose(a.data(), m, k, turned.data());
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < k; ++j) ASSERT_EQ(turned[j * m + i], a[i * k + j]);
    }
  });
}

}  // namespace
}  // namespace attend::kernels
