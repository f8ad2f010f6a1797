#include "attend/data/sentences.h"

#include <algorithm>

#include "attend/data/utf8.h"

namespace attend::data {
namespace {

constexpr std::string_view kSentenceMarks = ".!?";
constexpr std::string_view kClosing[] = {"\"", "'", ")", "]", "}", "”", "’", "»"};

/// Position behind the quotes and brackets that close at `at`.
size_t behind_closing(std::string_view text, size_t at) {
  for (;;) {
    const auto* const closes =
        std::ranges::find_if(kClosing, [&](std::string_view one) { return text.substr(at).starts_with(one); });
    if (closes == std::end(kClosing)) return at;
    at += closes->size();
  }
}

/// Where the sentence that begins at `begin` ends: behind its last mark, or at `line`, the end of its line.
size_t end_of_sentence(std::string_view text, size_t begin, size_t line) {
  for (size_t at = begin; (at = text.find_first_of(kSentenceMarks, at)) < line;) {
    at = std::min(text.find_first_not_of(kSentenceMarks, at), text.size());
    const size_t end = behind_closing(text, at);
    if (end >= line || kWhiteSpace.find(text[end]) != kWhiteSpace.npos) return std::min(end, line);
  }
  return line;
}

}  // namespace

std::vector<TextRange> split_sentences(std::string_view text) {
  std::vector<TextRange> sentences;
  size_t line = 0;
  for (size_t begin = text.find_first_not_of(kWhiteSpace); begin != text.npos;) {
    if (line <= begin) line = std::min(text.find('\n', begin), text.size());
    const size_t end = end_of_sentence(text, begin, line);
    const size_t last = text.find_last_not_of(kWhiteSpace, end - 1);
    sentences.push_back({static_cast<int64_t>(begin), static_cast<int64_t>(last + 1)});
    begin = text.find_first_not_of(kWhiteSpace, end);
  }
  return sentences;
}

}  // namespace attend::data
