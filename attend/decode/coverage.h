// Coverage: how much each hypothesis of a search has looked at each position of its source (Wu et al. 2016, eq. 14; Chorowski
// & Jaitly 2017, section 3.2).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/attention/observe.h"

namespace attend::decode {

/// Observes the weights of every attention to the source (Purpose::source) during a step, and adds their mean over
/// heads and layers to the rows' coverage.
class Coverage : public Sink {
 public:
  /// `option`: by which it was asked for.
  explicit Coverage(std::string option = "coverage_penalty") : option_(std::move(option)) {}
  void observe(const Observation& observation) override;
  /// The same where only `rows` rows from the `first` one on are its own.
  void observe(const Observation& observation, size_t first, size_t rows);
  /// Ends a step on `rows` rows; throws Error if no such attention was seen.
  void step(size_t rows);
  /// Keeps these rows, in that order, as State::take does.
  void take(std::span<const int32_t> rows);
  /// Σᵢ ln min(Σₜ aₜᵢ, 1) of a row, ≤ 0. A position that was never looked at counts as ln 1e-6: bad, but not forbidden.
  double penalty(size_t row) const;
  /// How many positions of a row have Σₜ aₜᵢ < 1/2.
  int64_t uncovered(size_t row) const;

 private:
  struct Row {
    std::vector<double> seen;  // per source position
  };
  std::string option_;
  std::vector<Row> rows_, spare_;
  std::vector<double> step_;  // [rows, keys], summed over the calls of this step
  std::vector<size_t> lengths_;
  size_t keys_ = 0;
  int64_t calls_ = 0;
};

}  // namespace attend::decode
