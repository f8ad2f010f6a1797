// What was seen of an image, as a stranger might write it: whatever it is, an Error or a look that can be written again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "attend/base/error.h"
#include "attend/explain/image_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    (void)attend::explain::look_json(attend::explain::parse_look(text));
  } catch (const attend::Error&) {
  }
  return 0;
}
