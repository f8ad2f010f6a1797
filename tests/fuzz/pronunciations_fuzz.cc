// Feeds any bytes to the reader of pronouncing dictionaries; whatever is not an attend::Error or words that are said is a bug.
#include <cstdint>
#include <exception>
#include <set>
#include <span>
#include <string>

#include "attend/base/error.h"
#include "attend/data/pronunciations.h"
#include "attend/data/utf8.h"

namespace {

void check(bool held) {
  if (!held) std::terminate();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend::data;
  try {
    const auto reader = pronunciations(LineReader(std::as_bytes(std::span(data, size)), "fuzz"));
    std::set<std::string> words;
    for (Example example; reader->next(example);) {
      check(split_words(example.source).size() == 1 && words.insert(example.source).second);
      std::set<std::string> said = {example.target};
      for (const std::string& other : example.also) check(said.insert(other).second);
      for (const std::string& one : said) check(!split_words(one).empty());
    }
    check(!words.empty());
  } catch (const attend::Error&) {
  }
  return 0;
}
