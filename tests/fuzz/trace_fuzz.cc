// Traces as a stranger might write them: whatever it is, an Error or a trace that can be written again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "attend/base/error.h"
#include "attend/explain/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    (void)attend::explain::trace_json(attend::explain::parse_trace(text));
  } catch (const attend::Error&) {
  }
  return 0;
}
