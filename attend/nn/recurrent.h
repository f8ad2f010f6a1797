// Recurrent layers: whole sequences or one step, stacked, in one or both directions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attend/autograd/ops/recurrent.h"
#include "attend/base/random.h"
#include "attend/nn/layer.h"

namespace attend::nn {

struct CellRow {
  std::string_view name;
  Cell cell;
};
/// The menu of cells.
std::span<const CellRow> cells();
Cell cell_named(std::string_view name);

/// One layer in one direction.
class RecurrentCell {
 public:
  /// Input weights glorot, state weights orthogonal per gate, biases 0, the lstm's forget gate 1 (Jozefowicz et al. 2015).
  RecurrentCell(Cell cell, int64_t in, int64_t hidden, Random& random);
  /// One step: x [B,I].
  RecurrentState operator()(const Var& x, const RecurrentState& before) const;
  /// All steps: x [T,B,I].
  RecurrentOutput sequence(const Var& x, const RecurrentState& initial = {}, const std::vector<int32_t>& lengths = {},
                           bool reverse = false) const;
  void params(const VisitParams& visit);

 private:
  Cell cell_;
  RecurrentWeights weights_;
};

struct RecurrentOptions {
  Cell cell = Cell::lstm;
  int64_t input = 0, hidden = 0, layers = 1;
  bool bidirectional = false;
  real dropout = 0;  // between layers
};

/// Layers on top of each other; with both directions each layer reads [forward; backward] of the one below.
class Recurrent {
 public:
  Recurrent(const RecurrentOptions& options, Random& random);

  struct Output {
    Var y;                             ///< [T,B,H], or [T,B,2H] in both directions
    std::vector<RecurrentState> last;  ///< layer by layer, forward before backward
  };
  /// x [T,B,I]; `initial` is empty or as `last`; dropout where `training` is given.
  Output operator()(const Var& x, const std::vector<int32_t>& lengths = {},
                    const std::vector<RecurrentState>& initial = {}, Random* training = nullptr) const;
  /// One step of all layers, one direction only: x [B,I], `state` as `last` → the new states; the output is the top h.
  std::vector<RecurrentState> step(const Var& x, const std::vector<RecurrentState>& state,
                                   Random* training = nullptr) const;
  void params(const VisitParams& visit);
  const RecurrentOptions& options() const { return options_; }

 private:
  RecurrentOptions options_;
  std::vector<RecurrentCell> cells_;  // layer by layer, forward before backward
};

}  // namespace attend::nn
