#include "attend/models/ctc_prefix.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/log_add.h"

namespace attend::models {

CtcPrefix::CtcPrefix(const Tensor& log_probabilities, int32_t blank) : blank_(blank) {
  require(log_probabilities.defined() && log_probabilities.rank() == 2 && log_probabilities.dim(1) > 0,
          "CtcPrefix: expected log-probabilities [T,V], got ", log_probabilities.shape());
  frames_ = log_probabilities.dim(0), labels_ = log_probabilities.dim(1);
  require(blank >= 0 && blank < labels_, "CtcPrefix: the blank must be in [0, ", labels_, "), got ", blank);
  log_p_.assign(log_probabilities.begin(), log_probabilities.end());
  p_.resize(log_p_.size());
  const size_t V = static_cast<size_t>(labels_);
  for (size_t t = 0; t < static_cast<size_t>(frames_); ++t) {
    // Normalised in double: over a thousand frames the rounding of float would show in the sum of the scores.
    double* row = &log_p_[t * V];
    const double top = *std::max_element(row, row + V);
    double sum = 0;
    for (size_t v = 0; v < V; ++v) sum += std::exp(row[v] - top);
    const double log_sum = top + std::log(sum);
    require(std::isfinite(log_sum), "CtcPrefix: log-probabilities must be numbers, got ", row[0], " … in frame ", t);
    for (size_t v = 0; v < V; ++v) row[v] -= log_sum, p_[t * V + v] = std::exp(row[v]);
  }
}

CtcPrefix::State CtcPrefix::begin() const {
  State state;
  state.r_nonblank.assign(static_cast<size_t>(frames_) + 1, kLogZero);
  state.r_blank.assign(static_cast<size_t>(frames_) + 1, 0);
  for (int64_t t = 0; t < frames_; ++t) {
    state.r_blank[static_cast<size_t>(t) + 1] = state.r_blank[static_cast<size_t>(t)] + log_p(t, blank_);
  }
  return state;
}

std::vector<double> CtcPrefix::starts(const State& state, bool again) const {
  require(state.r_blank.size() == static_cast<size_t>(frames_) + 1 && state.r_nonblank.size() == state.r_blank.size(),
          "CtcPrefix: expected a state of ", frames_, " frames; it must come from this object's begin or advance");
  std::vector<double> start(state.r_blank.begin(), state.r_blank.end() - 1);
  if (again) return start;
  for (size_t t = 0; t < start.size(); ++t) start[t] = log_add(start[t], state.r_nonblank[t]);
  return start;
}

std::vector<double> CtcPrefix::scores(const State& state) const {
  const size_t T = static_cast<size_t>(frames_), V = static_cast<size_t>(labels_);
  const std::vector<double> start = starts(state, false);
  // Sums of products instead of logarithms: the largest start is at most ψ(g), which these sums are shares of, so what
  // is lost below 1e-300 of it does not matter.
  double top = kLogZero;
  for (const double s : start) top = std::max(top, s);
  std::vector<double> sums(V, 0);
  if (top != kLogZero) {
    for (size_t t = 0; t < T; ++t) {
      const double w = std::exp(start[t] - top);
      if (w == 0) continue;
      for (size_t v = 0; v < V; ++v) sums[v] += w * p_[t * V + v];
    }
  }
  std::vector<double> scores(V, kLogZero);
  if (state.log_prefix == kLogZero) return scores;
  for (size_t v = 0; v < V; ++v) scores[v] = top + std::log(sums[v]) - state.log_prefix;
  if (state.last >= 0) {
    double sum = kLogZero;
    const std::vector<double> again = starts(state, true);
    for (size_t t = 0; t < T; ++t) sum = log_add(sum, again[t] + log_p(static_cast<int64_t>(t), state.last));
    scores[static_cast<size_t>(state.last)] = sum - state.log_prefix;
  }
  scores[static_cast<size_t>(blank_)] = log_add(state.r_nonblank[T], state.r_blank[T]) - state.log_prefix;
  return scores;
}

CtcPrefix::State CtcPrefix::advance(const State& state, int32_t label) const {
  require(label >= 0 && label < labels_ && label != blank_, "CtcPrefix: labels must be in [0, ", labels_,
          ") and not the blank ", blank_, ", got ", label);
  const std::vector<double> start = starts(state, label == state.last);
  State longer;
  longer.last = label;
  longer.log_prefix = kLogZero;
  longer.r_nonblank.assign(start.size() + 1, kLogZero);
  longer.r_blank.assign(start.size() + 1, kLogZero);
  for (size_t t = 0; t < start.size(); ++t) {
    const double p = log_p(static_cast<int64_t>(t), label), p_blank = log_p(static_cast<int64_t>(t), blank_);
    longer.r_nonblank[t + 1] = log_add(longer.r_nonblank[t], start[t]) + p;
    longer.r_blank[t + 1] = log_add(longer.r_blank[t], longer.r_nonblank[t]) + p_blank;
    longer.log_prefix = log_add(longer.log_prefix, start[t] + p);
  }
  return longer;
}

}  // namespace attend::models
