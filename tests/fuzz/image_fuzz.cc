// Feeds any bytes to the decoders of PNG and JPEG: as they are, as the chunks of a PNG with right checksums, and as a JPEG
// behind its first two bytes. Whatever is not an attend::Error or an image within the limits is a bug. What is decoded is
// written as PNG and has to come back the same.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "attend/base/error.h"
#include "attend/data/image_file.h"
#include "attend/data/resize.h"

namespace {

using attend::data::decode_image;
using attend::data::Image;

constexpr int64_t kMostPixels = 1 << 16;

void check(bool held) {
  if (!held) std::terminate();
}

Image decode(const std::string& bytes) {
  return decode_image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "fuzz",
                      {.most_pixels = kMostPixels});
}

void read(const std::string& bytes) {
  try {
    const Image image = decode(bytes);
    check(image.height > 0 && image.width > 0 && image.height * image.width <= kMostPixels);
    check(image.channels == 1 || image.channels == 3);
    check(image.pixels.size() == static_cast<size_t>(image.height * image.width * image.channels));
    check(attend::data::fitted(image, 8, 9, 3).pixels.size() == 8 * 9 * 3);
    check(decode(encode_png(image)).pixels == image.pixels);
  } catch (const attend::Error&) {
  }
}

std::string big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

/// A chunk of a PNG file with its checksum (CRC-32).
std::string chunk(const std::string& type, const std::string& data) {
  uint32_t state = ~0u;
  for (const char byte : type + data) {
    state ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ ((state & 1) != 0 ? 0xEDB88320u : 0);
  }
  return big_endian(static_cast<uint32_t>(data.size())) + type + data + big_endian(~state);
}

/// A width, a height, the four bytes behind them, the length of a palette and the palette, transparency, packed pixels.
std::string framed_png(std::string bytes) {
  const auto take = [&](size_t count) {
    std::string part = bytes.substr(0, count);
    bytes.erase(0, count);
    part.resize(count);
    return part;
  };
  const auto byte = [&] { return static_cast<uint8_t>(take(1)[0]); };
  std::string png = "\x89PNG\r\n\x1A\n";
  const uint32_t width = byte(), height = byte();
  png += chunk("IHDR", big_endian(width) + big_endian(height) + take(2) + std::string(2, '\0') + take(1));
  for (const char* type : {"PLTE", "tRNS"}) {
    if (const size_t count = byte(); count > 0) png += chunk(type, take(count));
  }
  return png + chunk("IDAT", bytes) + chunk("IEND", "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  read(framed_png(bytes));
  read("\xFF\xD8" + bytes);
  return 0;
}
