// Images of another size, shape or number of channels.
#pragma once

#include <cstdint>

#include "attend/data/image.h"

namespace attend::data {

/// Along each axis by itself: the mean over the area that a pixel covers where it shrinks, linear between the centres of
/// pixels where it grows.
Image resized(const Image& image, int64_t height, int64_t width);
/// The part with that upper left corner; it lies within the image.
Image cropped(const Image& image, int64_t top, int64_t left, int64_t height, int64_t width);
/// The largest part in the middle with the proportions height : width.
Image centre_cropped(const Image& image, int64_t height, int64_t width);
/// Grey is 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601); from grey, all three are that.
Image with_channels(const Image& image, int64_t channels);
/// Cropped in the middle to those proportions, then resized: what a network of a fixed input size is given.
Image fitted(const Image& image, int64_t height, int64_t width, int64_t channels);

}  // namespace attend::data
