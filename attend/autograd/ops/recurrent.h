// Whole-sequence recurrent networks, time-major: x [T,B,I].
#pragma once

#include <cstdint>
#include <vector>

#include "attend/autograd/var.h"
#include "attend/kernels/recurrent.h"

namespace attend {

using kernels::Cell;

/// W [G·H,I] for the input, U [G·H,H] for the state, b [G·H]; G = 1, 3, 4 gates in the order of attend/kernels/recurrent.h
/// (PyTorch's). For the gru, candidate_bias [H] is the bias inside the reset gate's reach: n = tanh(Wₙx + bₙ + r∘(Uₙh + cₙ)).
struct RecurrentWeights {
  Var input, state, bias, candidate_bias;
};

/// h [B,H], and for the lstm c [B,H]; undefined means zeros.
struct RecurrentState {
  Var h, c;
};

struct RecurrentOutput {
  Var y;                ///< [T,B,H], 0 past the end of a sequence
  RecurrentState last;  ///< each sequence's state after its own last step (reverse: after its first)
};

/// `lengths` (1 … T for each of B sequences; empty: all T): nothing beyond them is read, so padding has no effect.
/// `reverse` runs each sequence from its own last element to its first.
RecurrentOutput recurrent(Cell cell, const RecurrentWeights& weights, const Var& x, const RecurrentState& initial = {},
                          const std::vector<int32_t>& lengths = {}, bool reverse = false);

/// The same from W·x + b [T,B,G·H], computed by the caller (from several inputs, say); it is overwritten if nothing
/// else shares it.
RecurrentOutput recurrence(Cell cell, Var gates, const Var& state_weights, const Var& candidate_bias,
                           const RecurrentState& initial = {}, const std::vector<int32_t>& lengths = {},
                           bool reverse = false);

}  // namespace attend
