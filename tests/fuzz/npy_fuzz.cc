// Feeds any bytes to the reader of .npy files, as they are and as header and data in a right frame; whatever is not an
// attend::Error or a tensor of finite numbers is a bug.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/npy.h"

namespace {

void check(bool held) {
  if (!held) std::terminate();
}

void read(std::span<const uint8_t> bytes) {
  try {
    const attend::Tensor tensor = attend::data::decode_npy(std::as_bytes(bytes), "fuzz");
    check(tensor.size() <= bytes.size());
    for (const attend::real x : tensor) check(std::isfinite(x));
  } catch (const attend::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read({data, size});
  if (size == 0) return 0;
  std::vector<uint8_t> framed = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0};
  framed[8] = static_cast<uint8_t>(std::min<size_t>(data[0], size - 1));  // the length of the header
  framed.insert(framed.end(), data + 1, data + size);
  read(framed);
  return 0;
}
