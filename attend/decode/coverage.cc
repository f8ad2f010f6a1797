#include "attend/decode/coverage.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/base/error.h"

namespace attend::decode {

void Coverage::observe(const Observation& observation) {
  observe(observation, 0, observation.weights.rank() == 4 ? static_cast<size_t>(observation.weights.dim(0)) : 0);
}

void Coverage::observe(const Observation& observation, size_t first, size_t n) {
  if (observation.purpose != Purpose::source) return;
  const Tensor& weights = observation.weights;
  require(weights.defined() && weights.rank() == 4 && first + n <= static_cast<size_t>(weights.dim(0)),
          "coverage: expected weights [N,heads,Tq,Tk] of ", observation.site, " with ", first + n, " rows, got ",
          weights.shape());
  const size_t heads = static_cast<size_t>(weights.dim(1));
  const size_t queries = static_cast<size_t>(weights.dim(2)), keys = static_cast<size_t>(weights.dim(3));
  if (calls_ == 0) {
    keys_ = keys;
    step_.assign(n * keys, 0);
    lengths_.assign(n, keys);
    const std::span<const int32_t> lengths = observation.key_lengths;
    for (size_t r = 0; r < n && first + r < lengths.size(); ++r) lengths_[r] = static_cast<size_t>(lengths[first + r]);
  }
  require(n == lengths_.size() && keys == keys_,
          "coverage: all attentions of a step must have the same rows and keys, ", lengths_.size(), " and ", keys_,
          "; ", observation.site, " has ", weights.shape());
  const double share = 1.0 / static_cast<double>(heads);
  for (size_t r = 0; r < n; ++r) {
    const real* w = weights.data() + (first + r) * heads * queries * keys;
    for (size_t i = 0; i < heads * queries * keys; ++i) step_[r * keys + i % keys] += share * static_cast<double>(w[i]);
  }
  ++calls_;
}

void Coverage::step(size_t rows) {
  require_option(calls_ > 0, option_.c_str(),
                 "needs a model that attends to its source at each step; this one does not");
  require(rows == lengths_.size(), "coverage: expected weights of ", rows, " rows, got ", lengths_.size());
  rows_.resize(rows);
  const double share = 1.0 / static_cast<double>(calls_);
  for (size_t r = 0; r < rows; ++r) {
    std::vector<double>& seen = rows_[r].seen;
    seen.resize(lengths_[r], 0);
    for (size_t i = 0; i < seen.size(); ++i) seen[i] += share * step_[r * keys_ + i];
  }
  calls_ = 0;
}

void Coverage::take(std::span<const int32_t> rows) {
  spare_.resize(rows.size());
  for (size_t r = 0; r < rows.size(); ++r) spare_[r].seen = rows_[static_cast<size_t>(rows[r])].seen;
  std::swap(rows_, spare_);
}

double Coverage::penalty(size_t row) const {
  double sum = 0;
  for (const double seen : rows_[row].seen) sum += std::log(std::clamp(seen, 1e-6, 1.0));
  return sum;
}

int64_t Coverage::uncovered(size_t row) const {
  return std::ranges::count_if(rows_[row].seen, [](double seen) { return seen < 0.5; });
}

}  // namespace attend::decode
