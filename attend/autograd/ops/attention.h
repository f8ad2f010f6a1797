// The two fused parts of attention: scaled-dot-product attention by tiles, and the additive score.
#pragma once

#include <cstdint>
#include <vector>

#include "attend/autograd/var.h"
#include "attend/base/random.h"

namespace attend {

struct AttentionOptions {
  int64_t heads = 1;
  /// Factor on q·k; 0 means 1/√depth of a head.
  real scale = 0;
  /// How many keys of each of B sequences count; empty: all.
  std::vector<int32_t> key_lengths;
  /// A query sees no later key (query i and key i stand at the same place).
  bool causal = false;
  /// A query i sees the keys j with |i − j| ≤ window; negative: no window.
  int64_t window = -1;
  /// Past the last key the window stays there; otherwise such a query may see nothing.
  bool window_stays = false;
  /// Dropout on the weights; takes one key from `random`.
  real dropout = 0;
  Random* random = nullptr;
  /// If given, receives the weights [B,heads,Tq,Tk], which are computed separately: the result is the same bit for bit.
  Tensor* weights = nullptr;
};

/// softmax(scale·q kᵀ)·v for each head (Vaswani et al. 2017, eq. 1): q [B,Tq,D], k and v [B,Tk,D] → [B,Tq,D]; head h is
/// the D/heads columns from h·D/heads. Memory is linear in Tq and Tk, forwards and backwards. A query that sees nothing
/// reads 0.
Var scaled_dot_product_attention(const Var& q, const Var& k, const Var& v, const AttentionOptions& options = {});

/// energies[b,i,j] = vᵀ tanh(q[b,i] + k[b,j]) (Bahdanau et al. 2015): q [B,Tq,H] and k [B,Tk,H] already projected, v [H]
/// → [B,Tq,Tk], without a [B,Tq,Tk,H] tensor.
Var additive_score(const Var& q, const Var& k, const Var& v);

/// The location-aware score of one step (Chorowski et al. 2015, eq. 8–9): energies[b,0,j] = vᵀ tanh(q[b] + k[b,j] + Zᵀs[b,j]) with
/// s[b,j,c] = Σ_d F[c,d]·previous[b,j + d − r]: q [B,1,H] and k [B,Tk,H] already projected, v [H], previous [B,Tk], F [C,2r + 1],
/// Z [C,H] → [B,1,Tk], without a [B,Tk,H] tensor.
Var location_score(const Var& q, const Var& k, const Var& v, const Var& previous, const Var& filters,
                   const Var& location);

}  // namespace attend
