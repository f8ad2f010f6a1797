// Align: energies → weights over the last axis.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "attend/attention/step.h"
#include "attend/tensor/tensor.h"

namespace attend {

/// τ falls from `temperature` to `coldest` by a factor e^(−cooling) per update (Jang et al. 2017, section 4.3). Outside
/// training it is the one that training reached.
struct AlignOptions {
  double temperature = 1, coldest = 0.1, cooling = 0;
  bool straight_through = false;  // gumbel: one-hot forwards, the relaxed gradient backwards
  Var reached = {};               // gumbel: [1], τ of the latest step of training; 0, or none: unknown, so the coldest
};

struct Aligned {
  Var weights;          ///< as the energies; 0 where masked
  Var log_probability;  ///< ln p of what was chosen, without the last axis; only for sample, in training
  Var entropy;          ///< −Σ p ln p, as log_probability
};

class Align {
 public:
  virtual ~Align() = default;
  /// energies [..,Tk]; `mask` (1 = counts) broadcasts to them, or is undefined. A fully masked row is 0.
  virtual Aligned operator()(const Var& energies, const Tensor& mask, const AttentionStep& step) const = 0;
};

struct AlignRow {
  std::string_view name, formula, paper;
  std::string_view gradient;  // the contract: what flows back to the energies
  std::unique_ptr<Align> (*make)(const AlignOptions& options);
  bool trains = true;  // energies learn from it
  bool hard = false;   // outside training it makes one choice
  bool fused = false;  // the fused attention kernels support it
  bool shares = true;  // the weights are at least 0 and sum to one
};

std::span<const AlignRow> aligns();
/// Adds a row from outside the library, as add_score does.
void add_align(const AlignRow& row);
const AlignRow& align_named(std::string_view name);

/// The temperature after that many updates.
double temperature_at(const AlignOptions& options, int64_t update);

}  // namespace attend
