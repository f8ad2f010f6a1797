// What every example of a question about a document must be, whatever it was read from.
#pragma once

#include <exception>
#include <string>

#include "attend/data/example.h"
#include "attend/data/sentences.h"
#include "attend/data/utf8.h"

namespace attend::data {

inline void check(bool held) {
  if (!held) std::terminate();
}

inline void check_question_example(const Example& example) {
  check(example.further.size() == 1 && !split_words(example.source).empty() && !split_words(example.further[0]).empty());
  for (const std::string* text : {&example.source, &example.further[0], &example.target}) check_utf8("a text", *text);
  check(example.found.empty() || example.found.size() == 1 + example.also.size());
  for (size_t i = 0; i < example.found.size(); ++i) {
    const auto [begin, end] = example.found[i];
    const std::string& answer = i == 0 ? example.target : example.also[i - 1];
    check(begin >= 0 && begin <= end && end <= static_cast<int64_t>(example.source.size()));
    check(begin == end ||
          example.source.compare(static_cast<size_t>(begin), static_cast<size_t>(end - begin), answer) == 0);
  }
  const auto sentences = static_cast<int32_t>(split_sentences(example.source).size());
  for (const int32_t one : example.support) check(one >= 0 && one < sentences);
}

}  // namespace attend::data
