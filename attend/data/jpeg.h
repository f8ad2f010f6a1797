// JPEG images in memory, by libjpeg.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "attend/data/image.h"

namespace attend::data {

/// As decode_image; an image whose header claims more than `most_pixels` is rejected.
Image decode_jpeg(std::span<const uint8_t> bytes, const std::string& name, int64_t most_pixels);

}  // namespace attend::data
