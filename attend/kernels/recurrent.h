// Whole-sequence recurrent networks. The input's contributions of all steps are one product made beforehand; here are
// the recurrent product of each step and everything else of the cell in one pass.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"

namespace attend::kernels {

/// rnn:  h' = tanh(a)                                                    (Elman 1990)
/// gru:  r,z = σ(a), n = tanh(aₙ + r∘(Uₙh + cₙ)), h' = (1−z)∘n + z∘h      (Cho et al. 2014, in cuDNN's and PyTorch's form:
///       the reset gate acts after the product; gate order r, z, n)
/// lstm: i,f,o = σ(a), g = tanh(a), c' = f∘c + i∘g, h' = o∘tanh c'       (gate order i, f, g, o)
enum class Cell { rnn, gru, lstm };
constexpr size_t gates_of(Cell cell) { return cell == Cell::rnn ? 1 : cell == Cell::gru ? 3 : 4; }

/// States have one slot more than there are steps. Forwards, step t goes from slot t to t+1, and slot 0 is the initial
/// state; in reverse, from slot t+1 to t, and slot T is the initial state. Past the end of a sequence the state is carried
/// over unchanged, so the last slot written holds every sequence's final state and padding never changes a result.
struct Recurrence {
  Cell cell = Cell::lstm;
  size_t steps = 0, batch = 0, hidden = 0;
  bool reverse = false;
  const int32_t* lengths = nullptr;      // [B], or null: all of full length
  const real* weights = nullptr;         // U [G·H, H]
  uint64_t version = 0;                  // of U, where it is a parameter (see PackedWeights)
  const real* candidate_bias = nullptr;  // cₙ [H], gru only
  real* gates = nullptr;  // [T,B,G·H]: in, W·x + b; out, the activated gates; after the backward pass, ∂/∂(W·x + b)
  real* candidate = nullptr;      // [T,B,H], gru only: Uₙh + cₙ; after the backward pass, its gradient
  real* hidden_states = nullptr;  // [T+1,B,H]
  real* cell_states = nullptr;    // [T+1,B,H], lstm only
};

void recurrent_forward(const Recurrence& r);

/// dy [T,B,H] (may be null) is added to the gradient of each step's state where the step is within its sequence.
/// dh, dc [B,H]: in, the gradients of the final states; out, those of the initial states.
void recurrent_backward(const Recurrence& r, const real* dy, real* dh, real* dc);

}  // namespace attend::kernels
