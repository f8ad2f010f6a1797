// Feeds any bytes to the readers of IDX files, as they are and behind a right header; whatever is not an attend::Error or as
// many images as the header says is a bug.
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/idx.h"

namespace {

void check(bool held) {
  if (!held) std::terminate();
}

void read(std::span<const std::byte> bytes) {
  try {
    for (const attend::data::Image& image : attend::data::read_idx_images(bytes, "fuzz")) {
      check(image.height > 0 && image.width > 0 && image.channels == 1);
      check(image.pixels.size() == static_cast<size_t>(image.height * image.width));
    }
  } catch (const attend::Error&) {
  }
  try {
    for (const int32_t label : attend::data::read_idx_labels(bytes, "fuzz")) check(label >= 0 && label < 256);
  } catch (const attend::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read(std::as_bytes(std::span(data, size)));
  std::vector<uint8_t> headed = {0, 0, 8, 3};
  headed.insert(headed.end(), data, data + size);
  read(std::as_bytes(std::span(headed)));
  return 0;
}
