#include "attend/kernels/span.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/base/log_add.h"

namespace attend::kernels {
namespace {

double log_sum(const std::vector<double>& x) {
  double sum = kLogZero;
  for (const double one : x) sum = log_add(sum, one);
  return sum;
}

std::vector<double> log_starts(const SpanScores& scores) {
  std::vector<double> log_start(scores.slots());
  span_starts(scores, log_start.data());
  return log_start;
}

/// ln Σ e^end[e] over the last places that `first` may have.
double log_ends(const SpanScores& scores, size_t first) {
  double sum = kLogZero;
  for (size_t e = 0; e < scores.slots(); ++e) {
    if (span_may_end(scores, first, e)) sum = log_add(sum, static_cast<double>(scores.end[e]));
  }
  return sum;
}

}  // namespace

void span_starts(const SpanScores& scores, double* log_start) {
  std::copy_n(scores.start, scores.slots(), log_start);
  if (!scores.joint) return;
  double sum = kLogZero;
  for (size_t s = scores.places; s-- > 0;) {
    sum = log_add(sum, static_cast<double>(scores.end[s]));
    log_start[s] += sum;
  }
  if (scores.none) log_start[scores.places] += static_cast<double>(scores.end[scores.places]);
}

void span_loss(const SpanScores& scores, size_t first, size_t last, real* loss) {
  const std::vector<double> log_start = log_starts(scores);
  loss[0] = static_cast<real>(log_sum(log_start) - log_start[first]);
  loss[1] = static_cast<real>(log_ends(scores, first) - static_cast<double>(scores.end[last]));
}

void span_loss_backward(const SpanScores& scores, size_t first, size_t last, const real* by, real* dstart, real* dend) {
  const std::vector<double> log_start = log_starts(scores);
  const double all = log_sum(log_start), ends = log_ends(scores, first);
  const double by_first = static_cast<double>(by[0]), by_last = static_cast<double>(by[1]);
  double before = kLogZero;  // ln Σ e^start[s] over the first places that e may have
  for (size_t i = 0; i < scores.slots(); ++i) {
    const double start = std::exp(log_start[i] - all) - (i == first ? 1 : 0);
    dstart[i] += static_cast<real>(by_first * start);
    const double end = static_cast<double>(scores.end[i]);
    const double given = span_may_end(scores, first, i) ? std::exp(end - ends) : 0;
    if (scores.joint) {
      const double one = static_cast<double>(scores.start[i]);
      before = i == scores.places ? one : log_add(before, one);
      dend[i] += static_cast<real>(by_first * (std::exp(before + end - all) - given));
    }
    dend[i] += static_cast<real>(by_last * (given - (i == last ? 1 : 0)));
  }
}

}  // namespace attend::kernels
