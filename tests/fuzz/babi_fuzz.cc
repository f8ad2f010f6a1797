// Feeds any bytes to the reader of bAbI's stories; whatever is not an attend::Error or questions about statements is a bug.
#include <cstdint>
#include <span>

#include "attend/base/error.h"
#include "attend/data/babi.h"
#include "tests/fuzz/questions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend::data;
  try {
    const auto reader = babi_stories(LineReader(std::as_bytes(std::span(data, size)), "fuzz"));
    size_t count = 0;
    for (Example example; reader->next(example); ++count) {
      check_question_example(example);
      check(!example.target.empty() && example.also.empty() && example.group == "fuzz");
      check(reader->where().starts_with("fuzz:"));
    }
    check(count > 0);
  } catch (const attend::Error&) {
  }
  return 0;
}
