// Feeds any bytes to the reader of safetensors files; whatever is not an attend::Error or a tensor is a bug. By hand:
// clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. tests/fuzz/safetensors_fuzz.cc
//   attend/tensor/*.cc attend/base/*.cc -o safetensors_fuzz && ./safetensors_fuzz -max_total_time=180
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <vector>

#include "attend/base/error.h"
#include "attend/tensor/safetensors.h"

namespace {

void check(bool held) {
  if (!held) std::terminate();
}

void open_and_read(std::span<const std::byte> bytes) {
  try {
    const attend::SafetensorsFile file(bytes, "fuzz");
    uint64_t covered = 0;
    for (const attend::SafetensorsEntry& entry : file.entries()) {
      check(entry.begin == covered && entry.end <= bytes.size());
      covered = entry.end;
      check(file.find(entry.name) == &entry);
      try {
        const attend::Tensor tensor = file.read(entry.name);
        check(tensor.shape() == entry.shape && tensor.size() <= bytes.size());
        // A sum, so that the sanitizers see every value used.
        attend::real sum = 0;
        for (const attend::real x : tensor) sum += x;
        volatile attend::real sink = sum;
        (void)sink;
      } catch (const attend::Error&) {
      }
    }
  } catch (const attend::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  open_and_read(bytes);
  if (size == 0) return 0;
  // The same bytes as a header in a frame of the right length, with as many zeros behind it as the first byte says:
  // this way the search need not find the length first.
  const uint64_t header = size - 1;
  std::vector<std::byte> framed(sizeof(header) + header + data[0]);
  std::memcpy(framed.data(), &header, sizeof(header));
  if (header > 0) std::memcpy(framed.data() + sizeof(header), data + 1, header);
  open_and_read(framed);
  return 0;
}
