// Tiled attention against the composed one (product, masked softmax, product), for lengths up to 1000 and every mask.
#include "attend/kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"
#include "tests/support/array.h"

namespace attend {
namespace {

using test::normal;

struct MaskKind {
  const char* name;
  bool padding, causal;
  int64_t window;
  bool stays = false;
};
const MaskKind kMasks[] = {{"none", false, false, -1},    {"padding", true, false, -1},
                           {"causal", false, true, -1},   {"window", false, false, 17},
                           {"window 0", false, false, 0}, {"padding, causal", true, true, -1},
                           {"all", true, true, 40},       {"window that stays", true, false, 17, true},
                           {"all that stay", true, true, 40, true}};

std::vector<int32_t> lengths_for(const MaskKind& kind, int64_t B, int64_t n) {
  if (!kind.padding) return {};
  std::vector<int32_t> lengths(static_cast<size_t>(B), static_cast<int32_t>(n));
  lengths[0] = static_cast<int32_t>(n / 2);  // 0 for n = 1: a sentence with nothing to look at
  return lengths;
}

/// [B,Tq,Tk], 1 where the query sees the key.
Tensor full_mask(const AttentionOptions& o, int64_t B, int64_t queries, int64_t keys) {
  Tensor mask = Tensor::zeros({B, queries, keys});
  for (int64_t b = 0; b < B; ++b) {
    const int64_t length = o.key_lengths.empty() ? keys : o.key_lengths[static_cast<size_t>(b)];
    for (int64_t i = 0; i < queries; ++i) {
      const int64_t at = o.window_stays ? std::min(i, length - 1) : i;
      for (int64_t j = 0; j < keys; ++j) {
        const bool seen =
            j < length && (!o.causal || j <= at) && (o.window < 0 || std::abs(at - j) <= o.window);
        mask.data()[(b * queries + i) * keys + j] = seen;
      }
    }
  }
  return mask;
}

/// One head after the other out of small ops.
Var composed(const Var& q, const Var& k, const Var& v, const AttentionOptions& o) {
  const Tensor mask = full_mask(o, q.dim(0), q.dim(1), k.dim(1));
  const int64_t d = q.dim(2) / o.heads;
  std::vector<Var> heads;
  for (int64_t h = 0; h < o.heads; ++h) {
    const auto part = [&](const Var& x) { return slice(x, 2, h * d, (h + 1) * d); };
    const Var energies = affine(batched_matmul(part(q), part(k), false, true), real(1 / std::sqrt(double(d))));
    heads.push_back(batched_matmul(softmax(energies, mask), part(v)));
  }
  return concat(heads, 2);
}

double gap(const Tensor& a, const Tensor& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(double{a.data()[i]} - b.data()[i]));
  return worst;
}

void compare(const MaskKind& kind, int64_t queries, int64_t keys) {
  const int64_t B = 2, heads = 2, D = 40;
  const AttentionOptions options{
      .heads = heads, .key_lengths = lengths_for(kind, B, keys), .causal = kind.causal, .window = kind.window,
      .window_stays = kind.stays};
  const Tensor seed = normal({B, queries, D}, 4);
  std::vector<Tensor> outputs, dq, dk, dv;
  for (const bool tiled : {true, false}) {
    const Var q = Var::leaf(normal({B, queries, D}, 1)), k = Var::leaf(normal({B, keys, D}, 2));
    const Var v = Var::leaf(normal({B, keys, D}, 3));
    Tape tape;
    const Var y = tiled ? scaled_dot_product_attention(q, k, v, options) : composed(q, k, v, options);
    outputs.push_back(y.value());
    tape.backward(y, seed);
    dq.push_back(q.gradient()), dk.push_back(k.gradient()), dv.push_back(v.gradient());
  }
  EXPECT_LE(gap(outputs[0], outputs[1]), 1e-5);
  EXPECT_LE(gap(dq[0], dq[1]), 1e-4);
  EXPECT_LE(gap(dk[0], dk[1]), 1e-4);
  EXPECT_LE(gap(dv[0], dv[1]), 1e-4);
}

TEST(TiledAttention, EqualsComposedForShortLengths) {
  for (const MaskKind& kind : kMasks) {
    for (int64_t n = 1; n <= 48; ++n) {
      SCOPED_TRACE(std::string(kind.name) + ", length " + std::to_string(n));
      compare(kind, n, n);
    }
  }
}

TEST(TiledAttentionSlow, EqualsComposedUpToAThousand) {
  for (const MaskKind& kind : kMasks) {
    for (const int64_t n :
         {63, 64, 65, 95, 96, 97, 127, 128, 129, 191, 193, 255, 256, 257, 300, 385, 511, 512, 513, 700, 999, 1000}) {
      SCOPED_TRACE(std::string(kind.name) + ", length " + std::to_string(n));
      compare(kind, n, n);
    }
  }
}

TEST(TiledAttention, EqualsComposedForUnequalLengths) {
  for (const MaskKind& kind : kMasks) {
    for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{1, 300}, {300, 1}, {97, 130}, {200, 64}}) {
      SCOPED_TRACE(std::string(kind.name) + ", " + std::to_string(queries) + " × " + std::to_string(keys));
      compare(kind, queries, keys);
    }
  }
}

TEST(TiledAttention, MemoryIsLinearInLength) {
  // Each thread at work holds the scratch of one head; how many meet is a matter of luck, so one does all.
  const int threads_before = kernels::threads();
  kernels::set_threads(1);
  const auto peak = [](int64_t n) {
    const Var x = Var::leaf(normal({1, n, 64}, 1));
    memory::reset_peak();
    const size_t before = memory::usage().in_use;
    Tape tape;
    tape.backward(scaled_dot_product_attention(x, x, x, {.heads = 2}), normal({1, n, 64}, 2));
    return static_cast<double>(memory::usage().peak - before);
  };
  peak(512);
  EXPECT_LT(peak(4096) / peak(2048), 2.3);
  kernels::set_threads(threads_before);
}

TEST(TiledAttention, WeightsCanBeComputedAgain) {
  const int64_t B = 2, T = 130, D = 24, heads = 2;
  const Tensor q = normal({B, T, D}, 1), k = normal({B, T, D}, 2), v = normal({B, T, D}, 3);
  const std::vector<int32_t> lengths{130, 77};
  kernels::AttentionProblem p{.batch = 2,
                              .heads = 2,
                              .queries = 130,
                              .keys = 130,
                              .depth = 12,
                              .scale = real(0.3),
                              .key_lengths = lengths.data(),
                              .causal = true,
                              .window = 50,
                              .q = q.data(),
                              .k = k.data(),
                              .v = v.data()};
  Tensor out({B, T, D}), log_sum({B, heads, T}), weights({B, heads, T, T});
  kernels::attention_forward(p, out.data(), log_sum.data());
  kernels::attention_weights(p, log_sum.data(), weights.data());
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t i = 0; i < T; ++i) {
        const real* w = weights.data() + ((b * heads + h) * T + i) * T;
        double sum = 0, read = 0;
        for (int64_t j = 0; j < T; ++j) {
          const bool seen = j < lengths[static_cast<size_t>(b)] && j <= i && i - j <= 50;
          if (!seen) {
            ASSERT_EQ(w[j], 0);
          }
          sum += w[j];
          read += double{w[j]} * v.data()[(b * T + j) * D + h * 12];
        }
        ASSERT_NEAR(sum, i < lengths[static_cast<size_t>(b)] + 50 ? 1 : 0, 1e-5);
        ASSERT_NEAR(out.data()[(b * T + i) * D + h * 12], read, 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace attend
