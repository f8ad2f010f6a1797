// The chunks of a PNG file, checked before libpng sees them: compressed data may unpack to a thousand times its size,
// and libpng unpacks all of it, whatever the size of the picture.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace attend::data {

/// The file with those chunks alone that its picture needs: texts and unknown chunks, which may be compressed too, are
/// left out. Throws Error if the header claims more than `most_pixels`, or if there is more data than the header
/// implies. What is damaged is passed on, for libpng to say how.
std::string picture_chunks(std::span<const uint8_t> bytes, const std::string& name, int64_t most_pixels);

}  // namespace attend::data
