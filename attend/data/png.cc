#include "attend/data/png.h"

#include <png.h>

#include <limits>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/image_file.h"
#include "attend/data/png_chunks.h"

namespace attend::data {
namespace {

/// libpng's simplified interface, which reports errors by its return value and jumps nowhere.
struct Png {
  Png() { image.version = PNG_IMAGE_VERSION; }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;
  ~Png() { png_image_free(&image); }

  png_image image{};
};

/// Over white, as pages show it: c·a + 255·(1 − a).
uint8_t over_white(uint8_t value, uint8_t alpha) {
  return static_cast<uint8_t>((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

Image without_alpha(std::vector<uint8_t> pixels, int64_t height, int64_t width, int64_t channels) {
  Image image(height, width, channels);
  const uint8_t* in = pixels.data();
  for (size_t i = 0; i < image.pixels.size(); ++in) {
    const uint8_t alpha = in[channels];
    for (int64_t c = 0; c < channels; ++c) image.pixels[i++] = over_white(*in++, alpha);
  }
  return image;
}

}  // namespace

Image decode_png(std::span<const uint8_t> bytes, const std::string& name, int64_t most_pixels) {
  const std::string chunks = picture_chunks(bytes, name, most_pixels);
  Png png;
  if (png_image_begin_read_from_memory(&png.image, chunks.data(), chunks.size()) == 0) {
    fail(name, ": expected a PNG image, got a damaged one: ", png.image.message);
  }
  const int64_t height = png.image.height, width = png.image.width;
  check_pixels(name, height, width, most_pixels);
  const int64_t channels = (png.image.format & PNG_FORMAT_FLAG_COLOR) != 0 ? 3 : 1;
  const bool alpha = (png.image.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  png.image.format = (channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY) | (alpha ? PNG_FORMAT_FLAG_ALPHA : 0u);
  png.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // as everyone intends them
  std::vector<uint8_t> pixels(static_cast<size_t>(height * width * (channels + alpha)));
  if (png_image_finish_read(&png.image, nullptr, pixels.data(), 0, nullptr) == 0) {
    fail(name, ": expected a whole PNG image of ", height, "×", width, ", got a damaged one: ", png.image.message);
  }
  if (alpha) return without_alpha(std::move(pixels), height, width, channels);
  Image image;
  image.height = height, image.width = width, image.channels = channels;
  image.pixels = std::move(pixels);
  return image;
}

std::string encode_png(const Image& image) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  require(image.height > 0 && image.width > 0 && image.height <= kMost && image.width <= kMost / 4 &&
              (image.channels == 1 || image.channels == 3) &&
              static_cast<int64_t>(image.pixels.size()) == image.height * image.width * image.channels,
          "encode_png: expected an image with 1 or 3 channels, got ", image.height, "×", image.width, "×",
          image.channels, " with ", image.pixels.size(), " values");
  Png png;
  png.image.height = static_cast<png_uint_32>(image.height), png.image.width = static_cast<png_uint_32>(image.width);
  png.image.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png.image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&png.image, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0) {
    fail("encode_png: cannot pack the image: ", png.image.message);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace attend::data
