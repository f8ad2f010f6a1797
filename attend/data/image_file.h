// PNG and JPEG files. They are distrusted: a picture's size is checked before it is given memory, and what is damaged or cut
// short is an Error that names the file.
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

/// Its header says that it has more pixels than are taken.
class TooManyPixels : public Error {
 public:
  using Error::Error;
};
/// Throws where there is no pixel, or TooManyPixels.
void check_pixels(const std::string& name, int64_t height, int64_t width, int64_t most_pixels);

/// Grey images have 1 channel, all others 3 (red, green, blue). What is transparent lies over white; 16 bits become 8;
/// palettes and CMYK become red, green and blue. An orientation that a camera noted is not applied.
Image read_image(const std::filesystem::path& path, const ImageLimits& limits = {});
/// The kind is known by the first bytes; `name` begins a message.
Image decode_image(std::span<const uint8_t> bytes, const std::string& name, const ImageLimits& limits = {});

/// A PNG file of 8 bits per channel, without loss.
std::string encode_png(const Image& image);
void write_png(const std::filesystem::path& path, const Image& image);

/// Whether a file is called as one of a PNG or JPEG image is: .png, .jpg or .jpeg, in letters of any size.
bool is_image_name(const std::filesystem::path& path);

}  // namespace attend::data
