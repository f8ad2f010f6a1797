// Feeds any bytes to the decoders of PNG and JPEG; whatever is not an attend::Error or an image within the limits is a bug.
// What is decoded is written as PNG and has to come back the same.
#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "attend/base/error.h"
#include "attend/data/image_file.h"
#include "attend/data/resize.h"

namespace {

constexpr int64_t kMostPixels = 1 << 20;

void check(bool held) {
  if (!held) std::terminate();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend::data;
  try {
    const Image image = decode_image({data, size}, "fuzz", {.most_pixels = kMostPixels});
    check(image.height > 0 && image.width > 0 && image.height * image.width <= kMostPixels);
    check(image.channels == 1 || image.channels == 3);
    check(image.pixels.size() == static_cast<size_t>(image.height * image.width * image.channels));
    check(fitted(image, 8, 9, 3).pixels.size() == 8 * 9 * 3);
    const std::string png = encode_png(image);
    check(decode_image({reinterpret_cast<const uint8_t*>(png.data()), png.size()}, "again").pixels == image.pixels);
  } catch (const attend::Error&) {
  }
  return 0;
}
