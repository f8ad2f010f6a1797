// Coverage: how much of each source position has been read so far, and penalties for reading too much or too little.
#pragma once

#include <cstdint>
#include <span>

#include "attend/autograd/var.h"

namespace attend {

/// Coverage before each step: c[b,t] = Σ_{t'<t} weights[b,t']; weights [B,T,S] → [B,T,S].
Var coverage_before(const Var& weights);

/// Both penalties are sums over the sequences divided by the number of steps that count, as a mean −ln p per token is:
/// so their weight λ is the papers'. Steps past `target_lengths` do not count (empty: all do).

/// Σ_b Σₜ Σᵢ min(aₜᵢ, cₜᵢ) / Σ_b T_b: reading a place again costs (See et al. 2017, eq. 12 and 13).
Var coverage_penalty(const Var& weights, std::span<const int32_t> target_lengths = {});

/// Σ_b Σᵢ (1 − Σₜ αₜᵢ)² / Σ_b T_b: every place should be read about once in total (Xu et al. 2015, eq. 14). Places past
/// `source_lengths` do not count.
Var doubly_stochastic_penalty(const Var& weights, std::span<const int32_t> target_lengths = {},
                              std::span<const int32_t> source_lengths = {});

}  // namespace attend
