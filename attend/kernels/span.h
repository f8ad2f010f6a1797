// Spans of a sequence: one score for each first place, one for each last place, and a distribution over all pairs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"

namespace attend::kernels {

/// Scores start[s] and end[e] of one sequence of `places`; with `none`, those at index `places` are of no span at all.
struct SpanScores {
  const real* start = nullptr;
  const real* end = nullptr;
  size_t places = 0;
  bool none = false;
  /// p(s,e) ∝ e^(start[s]+end[e]) over s ≤ e; otherwise p(s)·p(e), each a softmax of its own.
  bool joint = true;

  size_t slots() const { return places + (none ? 1 : 0); }
};

/// log_start[s] = ln p(s) up to a constant: jointly start[s] + ln Σₑ≥ₛ e^end[e], otherwise start[s]. [slots()]
void span_starts(const SpanScores& scores, double* log_start);
/// Whether the last place may be e where the first one is s.
inline bool span_may_end(const SpanScores& scores, size_t s, size_t e) {
  if (!scores.joint) return e < scores.slots();
  return s == scores.places ? e == s : e >= s && e < scores.places;
}

/// loss[0] = −ln p(first), loss[1] = −ln p(last | first).
void span_loss(const SpanScores& scores, size_t first, size_t last, real* loss);
/// Adds their gradients, by[0] and by[1] times, to dstart and dend [slots()].
void span_loss_backward(const SpanScores& scores, size_t first, size_t last, const real* by, real* dstart, real* dend);

}  // namespace attend::kernels
