// Where along a row of places something looked: the stretch of places, all alike, whose mean and variance are those of its
// weights, mean ± √(3·variance). One that looks evenly at the places of a word gets that word from end to end.
#pragma once

#include <span>

#include "attend/base/real.h"

namespace attend::explain {

/// In places: the first begins at 0 and ends at 1. At least one place long.
struct PlaceRange {
  double begin = 0, end = 0;
  double middle() const { return (begin + end) / 2; }
};

/// Of the weights [places] of one token; they need not sum to one, but to more than 0.
PlaceRange attended(std::span<const real> weights);
/// What several looked at together, each counting alike: one that looked elsewhere moves the middle by its share only.
PlaceRange attended_together(std::span<const PlaceRange> tokens);

}  // namespace attend::explain
