#include "attend/nn/recurrent.h"

#include <algorithm>
#include <array>
#include <string>

#include "attend/autograd/ops/elementwise.h"
#include "attend/autograd/ops/shape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/nn/initial.h"

namespace attend::nn {

namespace {
constexpr CellRow kCells[] = {{"rnn", Cell::rnn}, {"gru", Cell::gru}, {"lstm", Cell::lstm}};
}

std::span<const CellRow> cells() { return kCells; }
Cell cell_named(std::string_view name) { return row_named("cell", kCells, name).cell; }

RecurrentCell::RecurrentCell(Cell cell, int64_t in, int64_t hidden, Random& random) : cell_(cell) {
  require(in >= 1 && hidden >= 1, "RecurrentCell: expected sizes of at least 1, got ", in, " and ", hidden);
  const int64_t width = static_cast<int64_t>(kernels::gates_of(cell)) * hidden;
  weights_.input = Var::leaf(initial("glorot", {width, in}, random));
  weights_.state = Var::leaf(initial("orthogonal", {width, hidden}, random));
  Tensor bias = Tensor::zeros({width});
  if (cell == Cell::lstm) std::fill_n(bias.data() + hidden, hidden, real{1});
  weights_.bias = Var::leaf(bias);
  if (cell == Cell::gru) weights_.candidate_bias = Var::leaf(Tensor::zeros({hidden}));
}

RecurrentState RecurrentCell::operator()(const Var& x, const RecurrentState& before) const {
  require(x.defined() && x.rank() == 2, "RecurrentCell: expected x [B,I], got ", x.shape());
  return sequence(reshape(x, {1, x.dim(0), x.dim(1)}), before).last;
}

RecurrentOutput RecurrentCell::sequence(const Var& x, const RecurrentState& initial,
                                        const std::vector<int32_t>& lengths, bool reverse) const {
  return recurrent(cell_, weights_, x, initial, lengths, reverse);
}

void RecurrentCell::params(const VisitParams& visit) {
  visit("input_weight", weights_.input);
  visit("state_weight", weights_.state);
  visit("bias", weights_.bias);
  if (weights_.candidate_bias.defined()) visit("candidate_bias", weights_.candidate_bias);
}

Recurrent::Recurrent(const RecurrentOptions& options, Random& random) : options_(options) {
  require(options.layers >= 1, "Recurrent: expected at least one layer, got ", options.layers);
  require(options.dropout >= 0 && options.dropout < 1, "Recurrent: dropout must be in [0, 1), got ", options.dropout);
  const int64_t directions = options.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    const int64_t in = layer == 0 ? options.input : directions * options.hidden;
    for (int64_t d = 0; d < directions; ++d) cells_.emplace_back(options.cell, in, options.hidden, random);
  }
}

Recurrent::Output Recurrent::operator()(const Var& x, const std::vector<int32_t>& lengths,
                                        const std::vector<RecurrentState>& initial, Random* training) const {
  require(initial.empty() || initial.size() == cells_.size(), "Recurrent: expected ", cells_.size(),
          " initial states (or none), got ", initial.size());
  const auto begin = [&](size_t i) { return initial.empty() ? RecurrentState{} : initial[i]; };
  Output out{x, {}};
  const size_t directions = options_.bidirectional ? 2 : 1;
  for (size_t i = 0; i < cells_.size(); i += directions) {
    if (i > 0 && training) out.y = dropout(out.y, options_.dropout, *training);
    const RecurrentOutput forward = cells_[i].sequence(out.y, begin(i), lengths);
    out.last.push_back(forward.last);
    if (directions == 1) {
      out.y = forward.y;
      continue;
    }
    const RecurrentOutput backward = cells_[i + 1].sequence(out.y, begin(i + 1), lengths, true);
    out.last.push_back(backward.last);
    out.y = concat(std::array{forward.y, backward.y}, 2);
  }
  return out;
}

std::vector<RecurrentState> Recurrent::step(const Var& x, const std::vector<RecurrentState>& state,
                                            Random* training) const {
  require(!options_.bidirectional, "Recurrent::step: expected one direction; both need the whole sequence");
  require(state.size() == cells_.size(), "Recurrent::step: expected ", cells_.size(), " states, got ", state.size());
  std::vector<RecurrentState> next;
  Var input = x;
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (i > 0 && training) input = dropout(input, options_.dropout, *training);
    next.push_back(cells_[i](input, state[i]));
    input = next.back().h;
  }
  return next;
}

void Recurrent::params(const VisitParams& visit) {
  const size_t directions = options_.bidirectional ? 2 : 1;
  for (size_t i = 0; i < cells_.size(); ++i) {
    visit_part(visit, std::to_string(i / directions) + (i % directions == 0 ? ".forward" : ".backward"), cells_[i]);
  }
}

}  // namespace attend::nn
