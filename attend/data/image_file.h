// PNG and JPEG files. They are not trusted: an image's size is checked before memory is allocated for it, and a damaged
// or truncated file is an Error that names it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "attend/base/error.h"
#include "attend/data/image.h"

namespace attend::data {

struct ImageLimits {
  int64_t most_pixels = 40'000'000;
  int64_t most_bytes = int64_t{256} << 20;  ///< of the file
};

/// The header claims more pixels than the limit.
class TooManyPixels : public Error {
 public:
  using Error::Error;
};
/// Throws Error if there are no pixels, TooManyPixels if there are too many.
void check_pixels(const std::string& name, int64_t height, int64_t width, int64_t most_pixels);

/// Grey images have 1 channel, all others 3 (red, green, blue). Transparency is drawn over white; 16 bits become 8;
/// palettes and CMYK become red, green and blue. JPEG images are turned as
/// their camera says (Exif orientation); an Exif block that makes no sense is passed over.
Image read_image(const std::filesystem::path& path, const ImageLimits& limits = {});
/// The format is recognised by the first bytes; `name` begins any message.
Image decode_image(std::span<const uint8_t> bytes, const std::string& name, const ImageLimits& limits = {});

/// A PNG file of 8 bits per channel, without loss.
std::string encode_png(const Image& image);
void write_png(const std::filesystem::path& path, const Image& image);

/// Whether a file is named like a PNG or JPEG image: .png, .jpg or .jpeg, in upper or lower case.
bool is_image_name(const std::filesystem::path& path);

}  // namespace attend::data
