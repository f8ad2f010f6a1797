#include "attend/autograd/ops/recurrent.h"

#include <algorithm>
#include <array>
#include <utility>

#include "attend/autograd/ops/matrix.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/rows.h"

namespace attend {
namespace {

constexpr const char* name_of(Cell cell) { return cell == Cell::rnn ? "rnn" : cell == Cell::gru ? "gru" : "lstm"; }

struct Sizes {
  int64_t T, B, H, G;
};

Sizes require_shapes(Cell cell, const Var& gates, const Var& state_weights, const Var& candidate_bias,
                     const RecurrentState& initial, const std::vector<int32_t>& lengths) {
  const char* where = name_of(cell);
  const int64_t G = static_cast<int64_t>(kernels::gates_of(cell));
  require(state_weights.defined() && state_weights.rank() == 2 && state_weights.dim(0) == G * state_weights.dim(1) &&
              state_weights.dim(1) > 0,
          where, ": expected state weights [", G, "·H,H], got ", state_weights.shape());
  const int64_t H = state_weights.dim(1);
  require(gates.defined() && gates.rank() == 3 && gates.dim(2) == G * H, where, ": expected gates [T,B,", G * H,
          "], got ", gates.shape());
  const Sizes s{gates.dim(0), gates.dim(1), H, G};
  require(
      (cell == Cell::gru) == candidate_bias.defined() && (cell != Cell::gru || candidate_bias.shape() == Shape{s.H}),
      where, cell == Cell::gru ? ": expected candidate_bias [H]" : ": expected no candidate_bias", ", got ",
      candidate_bias.shape());
  for (const Var* state : {&initial.h, &initial.c}) {
    require(!state->defined() || state->shape() == Shape{s.B, s.H}, where, ": expected an initial state [", s.B, ", ",
            s.H, "], got ", state->shape());
  }
  require(cell == Cell::lstm || !initial.c.defined(), where, ": only the lstm has a cell state, got ",
          initial.c.shape());
  require(lengths.empty() || static_cast<int64_t>(lengths.size()) == s.B, where, ": expected one length for each of ",
          s.B, " sequences, got ", lengths.size());
  for (const int32_t length : lengths) {
    require(length >= 1 && length <= s.T, where, ": lengths must be in [1, ", s.T, "], got ", length);
  }
  return s;
}

/// States [T+1,B,H] with the initial one in its slot.
Tensor begin_states(const Sizes& s, const Var& initial, bool reverse) {
  Tensor states({s.T + 1, s.B, s.H});
  Tensor slot = states[reverse ? s.T : 0];
  if (initial.defined()) {
    kernels::copy(initial.value().data(), slot.data(), slot.size());
  } else {
    slot.fill(0);
  }
  return states;
}

/// The states after each step, 0 where the sequence has ended; a view where none has.
Tensor outputs_of(const Tensor& states, const Sizes& s, const std::vector<int32_t>& lengths, bool reverse) {
  const Tensor view = reverse ? states.rows(0, s.T) : states.rows(1, s.T + 1);
  const bool ragged = std::any_of(lengths.begin(), lengths.end(), [&](int32_t length) { return length < s.T; });
  if (!ragged) return view;
  Tensor y = view.clone();
  for (int64_t t = 0; t < s.T; ++t) {
    for (int64_t b = 0; b < s.B; ++b) {
      if (lengths[static_cast<size_t>(b)] <= t) std::fill_n(y.data() + (t * s.B + b) * s.H, s.H, real{0});
    }
  }
  return y;
}

/// Everything that the backward pass keeps: the gates are overwritten by their own gradients there.
struct KeptSteps {
  Cell cell;
  Sizes s;
  bool reverse;
  std::vector<int32_t> lengths;
  uint64_t version;
  Tensor state_weights, candidate_bias, gates, candidate, hidden, cells;

  kernels::Recurrence problem() {
    return {.cell = cell,
            .steps = static_cast<size_t>(s.T),
            .batch = static_cast<size_t>(s.B),
            .hidden = static_cast<size_t>(s.H),
            .reverse = reverse,
            .lengths = lengths.empty() ? nullptr : lengths.data(),
            .weights = state_weights.data(),
            .version = version,
            .candidate_bias = candidate_bias.data(),
            .gates = gates.data(),
            .candidate = candidate.data(),
            .hidden_states = hidden.data(),
            .cell_states = cells.data()};
  }
};

struct Slots {
  Slot gates, state, candidate_bias, h, c;
};

void add_bias_gradient(const Slot& slot, const Tensor& d) {
  if (!slot.needed()) return;
  const size_t n = static_cast<size_t>(d.dim(1));
  kernels::sum_columns(d.data(), static_cast<size_t>(d.dim(0)), n, slot.buffer().data(), true);
}

/// ∂/∂(U·h): the gates' gradients, except that the gru's candidate has a separate one.
Tensor recurrent_gradient(const KeptSteps& k, const Tensor& dgates) {
  if (k.cell != Cell::gru) return dgates;
  Tensor d = dgates.clone();
  const size_t H = static_cast<size_t>(k.s.H), rows = static_cast<size_t>(d.dim(0));
  for (size_t r = 0; r < rows; ++r) std::copy_n(k.candidate.data() + r * H, H, d.data() + r * 3 * H + 2 * H);
  return d;
}

void backward(KeptSteps& k, const Slots& slots, std::span<Tensor> gradients) {
  const Sizes& s = k.s;
  const int64_t rows = s.T * s.B, width = s.G * s.H;
  const auto state_gradient = [&](const Tensor& g) { return g.defined() ? g.clone() : Tensor::zeros({s.B, s.H}); };
  Tensor dh = state_gradient(gradients[1]);
  Tensor dc = k.cell == Cell::lstm ? state_gradient(gradients[2]) : Tensor();
  kernels::recurrent_backward(k.problem(), gradients[0].data(), dh.data(), dc.data());
  const Tensor dgates = k.gates.reshape({rows, width});
  slots.h.add(dh);
  if (k.cell == Cell::lstm) slots.c.add(dc);
  if (k.cell == Cell::gru) add_bias_gradient(slots.candidate_bias, k.candidate.reshape({rows, s.H}));
  slots.gates.add(k.gates);
  const Tensor before = k.reverse ? k.hidden.rows(1, s.T + 1) : k.hidden.rows(0, s.T);
  if (slots.state.needed()) slots.state.add_product(recurrent_gradient(k, dgates), before.reshape({rows, s.H}));
}

}  // namespace

RecurrentOutput recurrence(Cell cell, Var gates, const Var& state_weights, const Var& candidate_bias,
                           const RecurrentState& initial, const std::vector<int32_t>& lengths, bool reverse) {
  const Sizes s = require_shapes(cell, gates, state_weights, candidate_bias, initial, lengths);
  const bool is_lstm = cell == Cell::lstm, is_gru = cell == Cell::gru;
  const bool tape = recording(gates, state_weights, candidate_bias, initial.h, initial.c);
  const Slots slots{gates.slot(), state_weights.slot(), candidate_bias.slot(), initial.h.slot(), initial.c.slot()};
  Tensor values = std::as_const(gates).value();
  gates = Var();
  if (!values.unique()) values = values.clone();
  KeptSteps k{.cell = cell,
              .s = s,
              .reverse = reverse,
              .lengths = lengths,
              .version = state_weights.version(),
              .state_weights = state_weights.value(),
              .candidate_bias = candidate_bias.value(),
              .gates = std::move(values),
              .candidate = is_gru ? Tensor({s.T, s.B, s.H}) : Tensor(),
              .hidden = begin_states(s, initial.h, reverse),
              .cells = is_lstm ? begin_states(s, initial.c, reverse) : Tensor()};
  kernels::recurrent_forward(k.problem());
  const int64_t final_slot = reverse ? 0 : s.T;
  const Tensor y = outputs_of(k.hidden, s, lengths, reverse);
  const Tensor h = k.hidden[final_slot], c = is_lstm ? k.cells[final_slot] : Tensor();
  if (!tape) return {y, {h, c}};
  const std::array<Slot, 3> outputs{detail::new_slot(y.shape()), detail::new_slot(h.shape()),
                                    is_lstm ? detail::new_slot(c.shape()) : Slot()};
  Tape::current()->add(outputs, [k = std::move(k), slots](std::span<Tensor> d) mutable { backward(k, slots, d); });
  return {Var(y, outputs[0]), {Var(h, outputs[1]), is_lstm ? Var(c, outputs[2]) : Var()}};
}

RecurrentOutput recurrent(Cell cell, const RecurrentWeights& w, const Var& x, const RecurrentState& initial,
                          const std::vector<int32_t>& lengths, bool reverse) {
  const char* where = name_of(cell);
  const int64_t G = static_cast<int64_t>(kernels::gates_of(cell));
  require(x.defined() && x.rank() == 3, where, ": expected x [T,B,I], got ", x.shape());
  require(w.state.defined() && w.state.rank() == 2 && w.state.dim(0) == G * w.state.dim(1) && w.state.dim(1) > 0, where,
          ": expected state weights [", G, "·H,H], got ", w.state.shape());
  const int64_t width = w.state.dim(0);
  require(w.input.defined() && w.input.shape() == Shape{width, x.dim(2)}, where, ": expected input weights [", width,
          ", ", x.dim(2), "], got ", w.input.shape());
  require(w.bias.defined() && w.bias.shape() == Shape{width}, where, ": expected bias [", width, "], got ",
          w.bias.shape());
  return recurrence(cell, linear(x, w.input, w.bias), w.state, w.candidate_bias, initial, lengths, reverse);
}

}  // namespace attend
