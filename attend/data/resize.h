// Images of another size, shape or number of channels.
#pragma once

#include <cstdint>

#include "attend/data/image.h"

namespace attend::data {

/// Each axis separately: the mean over the area that a pixel covers when shrinking, linear interpolation between pixel
/// centres when growing.
Image resized(const Image& image, int64_t height, int64_t width);
/// The part with that upper left corner, which must lie within the image.
Image cropped(const Image& image, int64_t top, int64_t left, int64_t height, int64_t width);
/// The largest part in the middle with the proportions height : width.
Image centre_cropped(const Image& image, int64_t height, int64_t width);
/// Grey is 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601); from grey, all three channels are equal to it.
Image with_channels(const Image& image, int64_t channels);
/// Cropped in the middle to those proportions, then resized: the input of a network with a fixed input size.
Image fitted(const Image& image, int64_t height, int64_t width, int64_t channels);

}  // namespace attend::data
