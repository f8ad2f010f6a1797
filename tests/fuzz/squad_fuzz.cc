// Feeds any bytes to the reader of SQuAD's JSON; whatever is not an attend::Error or questions with their places is a bug.
#include <cstdint>
#include <span>

#include "attend/base/error.h"
#include "attend/data/squad.h"
#include "tests/fuzz/questions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend::data;
  try {
    const auto reader = squad_questions("fuzz", memory_bytes(std::as_bytes(std::span(data, size))));
    size_t count = 0;
    for (Example example; reader->next(example); ++count) {
      check_question_example(example);
      check(reader->where().starts_with("fuzz:"));
      check(example.target.empty() ? example.found.empty() : example.found.size() == 1 + example.also.size());
    }
    check(count > 0);
  } catch (const attend::Error&) {
  }
  return 0;
}
