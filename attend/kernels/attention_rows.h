// Attention of single queries over keys that lie anywhere in a pool: step-by-step decoding, where hypotheses share keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"

namespace attend::kernels {

/// Query n [heads·depth] sees keys[index[n·stride + j]] for j < counts[n]; keys and values are pools [·, heads·depth].
struct RowAttention {
  size_t rows = 0, heads = 0, depth = 0;
  real scale = 1;
  const real *q = nullptr, *keys = nullptr, *values = nullptr;
  const int32_t* index = nullptr;
  size_t stride = 0;  // of the index, and of the rows of weights
  const int32_t* counts = nullptr;
};

/// out [rows, heads·depth] = softmax(scale·q kᵀ) v; `weights` [rows, heads, stride], if given, is filled in (0 past the
/// counts). A query that sees nothing reads 0.
void attention_rows(const RowAttention& p, real* out, real* weights);

}  // namespace attend::kernels
