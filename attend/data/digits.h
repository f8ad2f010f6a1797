// Digits that look handwritten, drawn from our own strokes: no download, and an unlimited supply.
#pragma once

#include <cstdint>

#include "attend/data/image.h"

namespace attend::data {

/// 28×28 grey, white ink on black, as in MNIST: about 20 pixels high and wide at most, the centre of the ink near that
/// of the image. A pure function of its arguments, from which template, jitter, slant, warp and pen are drawn.
LabelledImage digit(uint64_t seed, int64_t index);

}  // namespace attend::data
