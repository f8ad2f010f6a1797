// Sums of probabilities stored as logarithms.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

namespace attend {

/// ln 0.
constexpr double kLogZero = -std::numeric_limits<double>::infinity();

/// ln(eᵃ + eᵇ).
inline double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kLogZero ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace attend
