// Feeds any bytes to the reader of lines, as they are and behind a gzip header; whatever is not an attend::Error or a line
// of UTF-8 is a bug.
#include <array>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/lines.h"
#include "attend/data/unicode.h"

namespace {

void check(bool held) {
  if (!held) std::terminate();
}

void read(std::span<const std::byte> bytes) {
  try {
    attend::data::LineReader reader(bytes, "fuzz");
    int64_t count = 0;
    for (std::string line; reader.next(line);) {
      check(++count == reader.number() && line.size() <= attend::data::LineReader::kLongest);
      check(line.find('\n') == line.npos && line.find('\0') == line.npos);
      attend::data::check_utf8("a line", line);
      const std::string small = attend::data::lowercased(line);
      check(small.size() == line.size() && attend::data::lowercased(small) == small);
      attend::data::check_utf8("lower case", small);
      for (const std::string_view word : attend::data::split_words(line)) check(!word.empty());
    }
  } catch (const attend::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read(std::as_bytes(std::span(data, size)));
  std::vector<uint8_t> packed = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3};
  packed.insert(packed.end(), data, data + size);
  read(std::as_bytes(std::span(packed)));
  return 0;
}
