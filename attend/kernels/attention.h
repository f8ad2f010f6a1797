// Scaled-dot-product attention by tiles (Dao et al. 2022, "FlashAttention"; Rabe & Staats 2021): energies exist only for
// one tile of queries × keys at a time, so memory is linear in length.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"

namespace attend::kernels {

/// q [B,Tq,heads·depth], k and v [B,Tk,heads·depth]: heads are slices of the columns, so no transposition is needed to
/// reach them. A query i sees the keys j with j < key_lengths[b], j ≤ i if `causal`, |i − j| ≤ window if window ≥ 0.
/// With `window_stays` the window of a query past the last key is where that key is: i is then key_lengths[b] − 1.
struct AttentionProblem {
  size_t batch = 0, heads = 0, queries = 0, keys = 0, depth = 0;
  real scale = 1;
  const int32_t* key_lengths = nullptr;  // [B], or null
  bool causal = false;
  int64_t window = -1;
  bool window_stays = false;
  real keep = 1;  // dropout on the weights: the probability of keeping one
  uint64_t dropout_key = 0;
  const real *q = nullptr, *k = nullptr, *v = nullptr;
};

/// out = softmax(scale·q kᵀ) v [B,Tq,heads·depth]; log_sum [B,heads,Tq] = ln Σ e^energy, kept for the backward pass
/// (+infinity for a query that sees nothing: its output is 0).
void attention_forward(const AttentionProblem& p, real* out, real* log_sum);

/// Gradients from dout; dq, dk, dv are overwritten. Weights are recomputed from q, k and log_sum, tile by tile.
void attention_backward(const AttentionProblem& p, const real* out, const real* log_sum, const real* dout, real* dq,
                        real* dk, real* dv);

/// weights [B,heads,Tq,Tk] after dropout, as attention_forward used them, up to rounding.
void attention_weights(const AttentionProblem& p, const real* log_sum, real* weights);

}  // namespace attend::kernels
