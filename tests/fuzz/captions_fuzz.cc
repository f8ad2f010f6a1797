// Feeds any bytes to the reader of captions; whatever is not an attend::Error or images with captions is a bug.
#include <cstdint>
#include <exception>
#include <set>
#include <span>
#include <string>

#include "attend/base/error.h"
#include "attend/data/captions.h"

namespace {

void check(bool held) {
  if (!held) std::terminate();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend::data;
  try {
    std::set<std::string> names;
    for (const CaptionedImage& image : read_captions(LineReader(std::as_bytes(std::span(data, size)), "fuzz"))) {
      check(!image.name.empty() && image.name[0] != '/' && names.insert(image.name).second);
      check(!image.captions.empty());
      for (const std::string& caption : image.captions) check(!caption.empty());
    }
  } catch (const attend::Error&) {
  }
  return 0;
}
