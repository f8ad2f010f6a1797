// Feeds any bytes to the reader of .npz archives, as they are and as the one member of an archive with right sizes; what is not
// an attend::Error or tensors of finite numbers is a bug.
#include <cmath>
#include <cstdint>
#include <exception>
#include <string>

#include "attend/base/error.h"
#include "attend/data/npz.h"
#include "tests/data/zip_file.h"

namespace {

constexpr size_t kMostBytes = size_t{1} << 22;

void check(bool held) {
  if (!held) std::terminate();
}

void read(const std::string& bytes) {
  try {
    const attend::data::NpzFile file(bytes, "fuzz", kMostBytes);
    size_t read = 0;
    for (const std::string& name : file.names()) {
      check(file.has(name));
      if (++read > 8) break;
      try {
        const attend::Shape shape = file.shape(name);
        const attend::Tensor tensor = file.read(name);
        check(tensor.shape() == shape && tensor.size() * 4 <= kMostBytes);
        for (const attend::real x : tensor) check(std::isfinite(x));
      } catch (const attend::Error&) {
      }
    }
  } catch (const attend::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  for (const bool deflated : {false, true}) {
    attend::test::ZipFile zip(deflated, size % 2 == 1);
    zip.add("a.npy", bytes);
    read(zip.finished());
  }
  return 0;
}
