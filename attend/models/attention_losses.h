// What a decoder with attention learns besides its words: penalties on its weights, and REINFORCE where they were drawn.
#pragma once

#include <span>

#include "attend/attention/reinforce.h"
#include "attend/tensor/tensor.h"

namespace attend::models {

/// What an attention did over T steps of N answers.
struct AttentionTrail {
  Var weights;                   ///< [N,T,S], if a penalty needs them
  Var log_probability, entropy;  ///< [N,T], if the weights were drawn
  Var asked;  ///< [T,N,F], the queries of drawn weights: computed before the draw, as a baseline's features must be
};

struct AttentionLosses {
  double coverage = 0, doubly_stochastic = 0;  // λ of the penalties (attention/coverage.h)
  const Reinforce* reinforce = nullptr;        // needed if weights were drawn

  /// True if a penalty needs AttentionTrail::weights.
  bool needs_weights() const { return coverage != 0 || doubly_stochastic != 0; }
  /// The sum of the losses that apply, undefined if none does. logits [T,N,V]; targets [T,N], −1 where none counts. The
  /// reward of a choice is ln p of the correct word that follows it. Steps past `target_lengths` (without the end) and
  /// places past `source_lengths` (empty: none) do not count.
  Var operator()(const AttentionTrail& trail, const Var& logits, const Ids& targets,
                 std::span<const int32_t> target_lengths, std::span<const int32_t> source_lengths) const;
};

}  // namespace attend::models
