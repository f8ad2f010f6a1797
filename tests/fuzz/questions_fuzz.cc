// Feeds any bytes to the reader that recognises files of questions, and line by line to the parser of what people ask;
// whatever is not an attend::Error or questions about documents is a bug.
#include <cstdint>
#include <span>
#include <string_view>

#include "attend/base/error.h"
#include "attend/data/question_lines.h"
#include "attend/data/questions.h"
#include "tests/fuzz/questions.h"

namespace {

using namespace attend::data;

void ask(std::string_view line) {
  try {
    check_question_example(parse_question_line("fuzz", line));
  } catch (const attend::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ask(text.substr(0, text.find('\n')));
  try {
    const auto reader = questions("fuzz", memory_bytes(std::as_bytes(std::span(data, size))));
    size_t count = 0;
    for (Example example; reader->next(example); ++count) {
      check_question_example(example);
      check(reader->where().starts_with("fuzz:"));
    }
    check(count > 0);
  } catch (const attend::Error&) {
  }
  return 0;
}
