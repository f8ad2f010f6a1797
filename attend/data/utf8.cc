#include "attend/data/utf8.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "attend/base/error.h"

namespace attend::data {
namespace {

/// The well-formed sequences by their first byte; the second one is narrower where overlong forms, surrogates and what lies
/// beyond U+10FFFF would begin. All further bytes are 80..BF.
struct Form {
  uint8_t first_from, first_to, second_from, second_to, length;
};
constexpr Form kForms[] = {
    {0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

uint8_t byte_at(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

bool is_form(const Form& form, std::string_view text) {
  if (byte_at(text, 0) < form.first_from || byte_at(text, 0) > form.first_to || text.size() < form.length) return false;
  if (form.length == 1) return true;
  if (byte_at(text, 1) < form.second_from || byte_at(text, 1) > form.second_to) return false;
  for (size_t i = 2; i < form.length; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return false;
  }
  return true;
}

}  // namespace

size_t character_bytes(std::string_view text) {
  const Form* form = std::find_if(std::begin(kForms), std::end(kForms), [&](auto& f) { return is_form(f, text); });
  return form != std::end(kForms) ? form->length : 0;
}

char32_t code_point(std::string_view character) {
  constexpr uint8_t kPayload[] = {0x7F, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t code = byte_at(character, 0) & kPayload[character.size()];
  for (size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte_at(character, i) & 0x3F);
  return code;
}

namespace {

/// Where the first byte lies that is not UTF-8; the size if there is none.
size_t first_fault(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    uint64_t eight;
    if (at + sizeof(eight) <= text.size()) {  // most text is ASCII
      std::memcpy(&eight, text.data() + at, sizeof(eight));
      if ((eight & 0x8080808080808080) == 0) {
        at += sizeof(eight);
        continue;
      }
    }
    const size_t length = character_bytes(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return at;
}

}  // namespace

void check_utf8(std::string_view where, std::string_view text) {
  const size_t at = first_fault(text);
  if (at == text.size()) return;
  char byte[8];
  std::snprintf(byte, sizeof(byte), "0x%02X", byte_at(text, at));
  fail(where, ": UTF-8 is wanted, got the byte ", byte, " at column ", at + 1, ", which is not UTF-8",
       byte_at(text, at) >= 0xFE ? " (is it UTF-16?)" : "");
}

std::vector<std::string_view> split_words(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  for (size_t at = text.find_first_not_of(kSpace); at != text.npos; at = text.find_first_not_of(kSpace, at)) {
    const size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

namespace {

/// Every step-th code point of first..last is a capital; its small letter lies `distance` further on.
struct CaseRange {
  char32_t first, last, step;
  int32_t distance;
};
constexpr CaseRange kCapitals[] = {
    {0x0041, 0x005A, 1, 32}, {0x00C0, 0x00D6, 1, 32}, {0x00D8, 0x00DE, 1, 32}, {0x0100, 0x012E, 2, 1},
    {0x0132, 0x0136, 2, 1},  {0x0139, 0x0147, 2, 1},  {0x014A, 0x0176, 2, 1},  {0x0178, 0x0178, 1, -121},
    {0x0179, 0x017D, 2, 1},  {0x01CD, 0x01DB, 2, 1},  {0x01DE, 0x01EE, 2, 1},  {0x0200, 0x021E, 2, 1},
    {0x0222, 0x0232, 2, 1},  {0x0386, 0x0386, 1, 38}, {0x0388, 0x038A, 1, 37}, {0x038C, 0x038C, 1, 64},
    {0x038E, 0x038F, 1, 63}, {0x0391, 0x03A1, 1, 32}, {0x03A3, 0x03AB, 1, 32}, {0x0400, 0x040F, 1, 80},
    {0x0410, 0x042F, 1, 32}, {0x0460, 0x0480, 2, 1},  {0x048A, 0x04BE, 2, 1},  {0x04C0, 0x04C0, 1, 15},
    {0x04C1, 0x04CD, 2, 1},  {0x04D0, 0x052E, 2, 1},  {0x0531, 0x0556, 1, 48}, {0x1E00, 0x1E94, 2, 1},
    {0x1EA0, 0x1EFE, 2, 1},  {0xFF21, 0xFF3A, 1, 32},
};

char32_t small_letter(char32_t code) {
  const auto* after = std::upper_bound(std::begin(kCapitals), std::end(kCapitals), code,
                                       [](char32_t wanted, const CaseRange& range) { return wanted < range.first; });
  if (after == std::begin(kCapitals)) return code;
  const CaseRange& range = after[-1];
  if (code > range.last || (code - range.first) % range.step != 0) return code;
  return static_cast<char32_t>(static_cast<int32_t>(code) + range.distance);
}

/// Writes the code point over a character of as many bytes.
void overwrite(char* at, size_t bytes, char32_t code) {
  constexpr uint8_t kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = bytes; i-- > 1; code >>= 6) at[i] = static_cast<char>(0x80 | (code & 0x3F));
  at[0] = static_cast<char>(kLead[bytes] | code);
}

}  // namespace

std::string lowercased(std::string_view text) {
  std::string small(text);
  for (size_t at = 0; at < small.size();) {
    const size_t bytes = character_bytes(std::string_view(small).substr(at));
    if (bytes > 0) {
      const char32_t code = code_point(std::string_view(small).substr(at, bytes)), letter = small_letter(code);
      if (letter != code) overwrite(&small[at], bytes, letter);
    }
    at += std::max(bytes, size_t{1});
  }
  return small;
}

std::vector<CasePair> case_pairs() {
  std::vector<CasePair> pairs;
  for (const CaseRange& range : kCapitals) {
    for (char32_t code = range.first; code <= range.last; code += range.step) {
      pairs.push_back({code, small_letter(code)});
    }
  }
  return pairs;
}

}  // namespace attend::data
