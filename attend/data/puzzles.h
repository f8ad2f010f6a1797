// Small images that ask for looking around: which of four bars is the odd one, and how many dots there are.
#pragma once

#include <cstdint>

#include "attend/data/image.h"

namespace attend::data {

constexpr int64_t kPuzzleSide = 48, kOddPlaces = 4, kMostDots = 5;

/// Four bars in two rows, of which three lie nearly alike and one across them; the label is the place of that one, row by row. How
/// the three lie is drawn for each image, so that no bar tells by itself. A pure function of its arguments.
LabelledImage odd_one(uint64_t seed, int64_t index);

/// One to five dots, none touching another, their sizes drawn too; the label is their number less one.
LabelledImage dots(uint64_t seed, int64_t index);

}  // namespace attend::data
