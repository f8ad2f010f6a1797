// Digits that look handwritten, drawn from strokes of our own: no download, and as many as one wants.
#pragma once

#include <cstdint>

#include "attend/data/image.h"

namespace attend::data {

/// 28×28 grey, white ink on black, as in MNIST: at most 20 pixels high and wide or little more, the centre of its ink near
/// that of the image. A pure function of its arguments: template, jitter, slant, warp and pen are drawn from them.
LabelledImage digit(uint64_t seed, int64_t index);

}  // namespace attend::data
