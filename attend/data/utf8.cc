#include "attend/data/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "attend/base/error.h"

namespace attend::data {

void check_utf8(std::string_view where, std::string_view text) {
  const size_t at = first_fault(text);
  if (at == text.size()) return;
  const auto byte = static_cast<uint8_t>(text[at]);
  char shown[8];
  std::snprintf(shown, sizeof(shown), "0x%02X", byte);
  fail(where, ": expected UTF-8, got the byte ", shown, " at column ", at + 1, ", which is not UTF-8",
       byte >= 0xFE ? " (is it UTF-16?)" : "");
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = text.find_first_not_of(kWhiteSpace); at != text.npos; at = text.find_first_not_of(kWhiteSpace, at)) {
    const size_t end = std::min(text.find_first_of(kWhiteSpace, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t\v\f\r";
  const size_t begin = text.find_first_not_of(kWhite);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
}

std::string on_one_line(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\r\f\v", kBreaks = "\t\n\r\f\v";
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(text.find_first_of(kSpaces, at), text.size());
    const size_t end = std::min(text.find_first_not_of(kSpaces, begin), text.size());
    const std::string_view spaces = text.substr(begin, end - begin);
    line.append(text.substr(at, begin - at));
    line.append(spaces.find_first_of(kBreaks) == spaces.npos ? spaces : " ");
    at = end;
  }
  return line;
}

std::vector<std::string_view> split_columns(std::string_view line) {
  std::vector<std::string_view> columns;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    columns.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return columns;
}

}  // namespace attend::data
