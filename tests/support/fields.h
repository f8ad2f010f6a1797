// A conditional random field by going through all of its labellings.
#pragma once

#include <vector>

#include "tests/support/array.h"

namespace attend::test {

/// Emissions [T,L] of one sequence, transitions [L,L], start and end [L].
struct FieldScores {
  Array emissions, transitions, start, end;

  /// s(y) = start[y₀] + Σₜ eₜ[yₜ] + Σₜ A[yₜ,yₜ₊₁] + end[y_T₋₁].
  double score(const std::vector<int32_t>& labels) const {
    if (labels.empty()) return 0;
    double sum = start(labels.front()) + end(labels.back());
    for (size_t t = 0; t < labels.size(); ++t) {
      sum += emissions(static_cast<int64_t>(t), labels[t]);
      if (t > 0) sum += transitions(labels[t - 1], labels[t]);
    }
    return sum;
  }

  /// Calls take(labels, s(labels)) for every labelling of the first `steps` places.
  template <class Take>
  void for_each(int64_t steps, Take&& take) const {
    std::vector<int32_t> labels(static_cast<size_t>(steps), 0);
    for (;;) {
      take(labels, score(labels));
      size_t t = 0;
      while (t < labels.size() && ++labels[t] == start.dim(0)) labels[t++] = 0;
      if (t == labels.size()) return;
    }
  }

  /// ln Σ e^s(y) over the labellings that agree with `tags`, where −1 is any.
  double log_sum(const std::vector<int32_t>& tags) const {
    const auto agrees = [&](const std::vector<int32_t>& labels) {
      for (size_t t = 0; t < tags.size(); ++t) {
        if (tags[t] >= 0 && tags[t] != labels[t]) return false;
      }
      return true;
    };
    const int64_t steps = static_cast<int64_t>(tags.size());
    double top = -1e300, sum = 0;
    for_each(steps, [&](const auto& labels, double s) { top = agrees(labels) ? std::max(top, s) : top; });
    for_each(steps, [&](const auto& labels, double s) { sum += agrees(labels) ? std::exp(s - top) : 0; });
    return top + std::log(sum);
  }
  double log_probability(const std::vector<int32_t>& tags) const {
    return log_sum(tags) - log_sum(std::vector<int32_t>(tags.size(), -1));
  }
};

/// Emissions of sequence b of [B,T,L].
inline Array sequence_of(const Array& emissions, int64_t b) {
  const size_t width = static_cast<size_t>(emissions.dim(1) * emissions.dim(2));
  Array one({emissions.dim(1), emissions.dim(2)});
  std::copy_n(emissions.v.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(b) * width), width, one.v.begin());
  return one;
}

}  // namespace attend::test
