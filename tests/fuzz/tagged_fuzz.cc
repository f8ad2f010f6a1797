// Feeds any bytes to the reader of tagged sentences; whatever is not an attend::Error or a tag for every word is a bug.
#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "attend/base/error.h"
#include "attend/data/tagged.h"
#include "attend/data/utf8.h"

namespace {

void check(bool held) {
  if (!held) std::terminate();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend::data;
  try {
    const auto reader = tagged_sentences(LineReader(std::as_bytes(std::span(data, size)), "fuzz"));
    size_t count = 0;
    std::string last;
    for (Example example; reader->next(example); ++count) {
      const size_t words = split_words(example.source).size();
      check(words > 0 && split_words(example.target).size() == words);
      check(reader->where().starts_with("fuzz:") && reader->where() != last);
      last = reader->where();
    }
    check(count > 0);
  } catch (const attend::Error&) {
  }
  return 0;
}
