#include "attend/data/answers.h"

#include <set>

#include "attend/base/error.h"
#include "attend/data/lines.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

TextRange range_at(size_t begin, std::string_view text) {
  return {static_cast<int64_t>(begin), static_cast<int64_t>(begin + text.size())};
}

/// Letters, digits, and all that is not ASCII.
bool in_a_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

bool is_whole(std::string_view text, size_t begin, size_t end) {
  const bool continues_before = begin > 0 && in_a_word(text[begin - 1]) && in_a_word(text[begin]);
  const bool continues_behind = end < text.size() && in_a_word(text[end - 1]) && in_a_word(text[end]);
  return !continues_before && !continues_behind;
}

void check_part(const std::string& where, const char* what, std::string_view text) {
  require(text.find_first_not_of(kWhiteSpace) != text.npos, where, ": expected a ", what, ", got ",
          text.empty() ? "an empty one" : "nothing but white space");
  require(text.find('\0') == text.npos, where, ": expected a ", what, " without zero bytes, got one with some");
  require(text.size() <= LineReader::kLongest, where, ": expected a ", what, " of at most ", LineReader::kLongest,
          " bytes, got ", text.size());
}

}  // namespace

void set_answers(Example& example, std::vector<Answer> answers) {
  example.target.clear(), example.also.clear(), example.found.clear();
  std::set<std::string> seen;
  bool anywhere = false;
  for (Answer& answer : answers) {
    if (!seen.insert(answer.text).second) continue;
    (seen.size() == 1 ? example.target : example.also.emplace_back()) = std::move(answer.text);
    example.found.push_back(answer.place.value_or(TextRange{}));
    anywhere = anywhere || answer.place;
  }
  if (!anywhere) example.found.clear();
}

std::optional<TextRange> nearest_place(std::string_view document, std::string_view answer, size_t near) {
  const size_t before = document.rfind(answer, near), behind = document.find(answer, near);
  if (before == document.npos && behind == document.npos) return {};
  const bool first = behind == document.npos || (before != document.npos && near - before <= behind - near);
  return range_at(first ? before : behind, answer);
}

std::optional<TextRange> first_place(std::string_view document, std::string_view answer) {
  if (answer.empty()) return {};
  const size_t any = document.find(answer);
  if (any == document.npos) return {};
  for (size_t at = any; at != document.npos; at = document.find(answer, at + 1)) {
    if (is_whole(document, at, at + answer.size())) return range_at(at, answer);
  }
  return range_at(any, answer);
}

std::optional<TextRange> last_word_place(std::string_view document, std::string_view answer, TextRange within) {
  const auto begin = static_cast<size_t>(within.begin), end = static_cast<size_t>(within.end);
  if (answer.empty() || end - begin < answer.size()) return {};
  for (size_t at = document.rfind(answer, end - answer.size()); at != document.npos && at >= begin;
       at = at == 0 ? document.npos : document.rfind(answer, at - 1)) {
    if (is_whole(document, at, at + answer.size())) return range_at(at, answer);
  }
  return {};
}

void check_document(const std::string& where, std::string_view document) { check_part(where, "document", document); }
void check_question(const std::string& where, std::string_view question) { check_part(where, "question", question); }

}  // namespace attend::data
