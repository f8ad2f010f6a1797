// Feeds any bytes to the reader of "label<tab>text" lines; whatever is not an attend::Error or texts with labels is a bug.
#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "attend/base/error.h"
#include "attend/data/labelled.h"
#include "attend/data/unicode.h"

namespace {

void check(bool held) {
  if (!held) std::terminate();
}

/// Words with single blanks between them, at least one.
void check_words(const std::string& text) {
  attend::data::check_utf8("a text", text);
  std::string again;
  for (const std::string_view word : attend::data::split_words(text))
    again.append(again.empty() ? "" : " ").append(word);
  check(!text.empty() && again == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend::data;
  try {
    const auto reader = labelled_lines(LineReader(std::as_bytes(std::span(data, size)), "fuzz"));
    size_t count = 0;
    for (Example example; reader->next(example); ++count) {
      check_words(example.source);
      check_words(example.target);
      check(example.also.empty() && reader->where().starts_with("fuzz:"));
    }
    check(count > 0);
  } catch (const attend::Error&) {
  }
  return 0;
}
