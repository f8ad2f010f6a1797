#include "attend/data/unicode.h"

#include <algorithm>
#include <span>

#include "attend/base/error.h"
#include "attend/base/utf8.h"
#include "attend/data/unicode_table.h"

namespace attend::data {
namespace {

/// The row that contains `c`; null if none does.
template <class Row>
const Row* row_of(std::span<const Row> rows, char32_t c) {
  const auto after = std::ranges::upper_bound(rows, c, {}, &Row::first);
  if (after == rows.begin()) return nullptr;
  const Row& row = *std::prev(after);
  return c <= row.last ? &row : nullptr;
}

constexpr char32_t kCapitalSigma = U'Σ', kFinalSigma = U'ς', kCapitalDottedI = U'İ';

bool is_ignorable(char32_t c) { return row_of<unicode::Range>(unicode::kIgnorable, c) != nullptr; }
bool is_cased(char32_t c) { return row_of<unicode::Range>(unicode::kCased, c) != nullptr; }

/// Preceded but not followed by a cased letter, skipping case-ignorable code points (Unicode, table 3-17).
bool ends_a_word(std::u32string_view text, size_t at) {
  const auto before = std::find_if_not(text.rend() - static_cast<ptrdiff_t>(at), text.rend(), is_ignorable);
  const auto after = std::find_if_not(text.begin() + static_cast<ptrdiff_t>(at) + 1, text.end(), is_ignorable);
  return before != text.rend() && is_cased(*before) && (after == text.end() || !is_cased(*after));
}

char32_t small_letter(char32_t c) {
  const unicode::Lowered* row = row_of<unicode::Lowered>(unicode::kLower, c);
  if (row == nullptr || (c - row->first) % row->step != 0) return c;
  return static_cast<char32_t>(static_cast<int32_t>(c) + row->added);
}

/// Bytes of the code point in UTF-8.
size_t bytes_of(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

bool keeps_its_bytes(char32_t c) { return bytes_of(small_letter(c)) == bytes_of(c); }

/// Writes the code point over a character of as many bytes.
void overwrite(char* at, size_t bytes, char32_t code) {
  constexpr uint8_t kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = bytes; i-- > 1; code >>= 6) at[i] = static_cast<char>(0x80 | (code & 0x3F));
  at[0] = static_cast<char>(kLead[bytes] | code);
}

}  // namespace

std::u32string code_points(std::string_view where, std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const size_t bytes = character_bytes(rest);
    require(bytes > 0, where, ": expected UTF-8, got other bytes at byte ", text.size() - rest.size());
    points += code_point(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  return points;
}

bool is_blank(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

Category category(char32_t c) {
  const unicode::Categorised* row = row_of<unicode::Categorised>(unicode::kCategories, c);
  return row == nullptr ? Category::kOther : static_cast<Category>(row->category);
}

bool is_letter_or_digit(char32_t c) { return row_of<unicode::Range>(unicode::kLettersAndDigits, c) != nullptr; }

std::u32string lower_case(std::u32string_view text) {
  std::u32string lower;
  lower.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kCapitalDottedI) {
      lower += U"i\u0307";
    } else if (text[i] == kCapitalSigma && ends_a_word(text, i)) {
      lower += kFinalSigma;
    } else {
      lower += small_letter(text[i]);
    }
  }
  return lower;
}

std::string lowercased(std::string_view text) {
  std::string small(text);
  for (size_t at = 0; at < small.size();) {
    const size_t bytes = character_bytes(std::string_view(small).substr(at));
    if (bytes > 0) {
      const char32_t code = code_point(std::string_view(small).substr(at, bytes));
      if (keeps_its_bytes(code)) overwrite(&small[at], bytes, small_letter(code));
    }
    at += std::max(bytes, size_t{1});
  }
  return small;
}

std::vector<CasePair> case_pairs() {
  std::vector<CasePair> pairs;
  for (const unicode::Lowered& row : unicode::kLower) {
    for (char32_t c = row.first; c <= row.last; c += row.step) {
      if (keeps_its_bytes(c)) pairs.push_back({c, small_letter(c)});
    }
  }
  return pairs;
}

std::u32string_view without_trailing_blanks(std::u32string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::u32string_view> split_at_blanks(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (auto at = text.begin(); at != text.end();) {
    at = std::find_if_not(at, text.end(), is_blank);
    const auto end = std::find_if(at, text.end(), is_blank);
    if (at != end) words.emplace_back(at, end);
    at = end;
  }
  return words;
}

}  // namespace attend::data
