#include "attend/data/unicode.h"

#include <algorithm>
#include <span>

#include "attend/base/error.h"
#include "attend/data/unicode_table.h"

namespace attend::data {
namespace {

/// The row that holds `c`; null where none does.
template <class Row>
const Row* row_of(std::span<const Row> rows, char32_t c) {
  const auto after = std::ranges::upper_bound(rows, c, {}, &Row::first);
  if (after == rows.begin()) return nullptr;
  const Row& row = *std::prev(after);
  return c <= row.last ? &row : nullptr;
}

/// First bytes of a sequence: how long it is, which bits count, and the least that it may stand for.
struct Lead {
  unsigned char mask, pattern;
  size_t length;
  char32_t least;
};
constexpr Lead kLeads[] = {{0x80, 0x00, 1, 0}, {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}};

constexpr char32_t kNone = 0xFFFFFFFF;

/// The code point at the front of `text`, which is then behind it; kNone where there is none.
char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto lead = std::ranges::find_if(kLeads, [&](const Lead& l) { return (byte(0) & l.mask) == l.pattern; });
  if (lead == std::end(kLeads) || text.size() < lead->length) return kNone;
  char32_t c = byte(0) & static_cast<unsigned char>(~lead->mask);
  for (size_t i = 1; i < lead->length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return kNone;
    c = c << 6 | (byte(i) & 0x3F);
  }
  if (c < lead->least || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return kNone;
  text.remove_prefix(lead->length);
  return c;
}

constexpr char32_t kCapitalSigma = U'Σ', kFinalSigma = U'ς', kCapitalDottedI = U'İ';

bool is_ignorable(char32_t c) { return row_of<unicode::Range>(unicode::kIgnorable, c) != nullptr; }
bool is_cased(char32_t c) { return row_of<unicode::Range>(unicode::kCased, c) != nullptr; }

/// A cased letter comes before it and none after it, code points that case ignores aside (Unicode, table 3-17).
bool ends_a_word(std::u32string_view text, size_t at) {
  const auto before = std::find_if_not(text.rend() - static_cast<ptrdiff_t>(at), text.rend(), is_ignorable);
  const auto after = std::find_if_not(text.begin() + static_cast<ptrdiff_t>(at) + 1, text.end(), is_ignorable);
  return before != text.rend() && is_cased(*before) && (after == text.end() || !is_cased(*after));
}

char32_t lower_case(char32_t c) {
  const unicode::Lowered* row = row_of<unicode::Lowered>(unicode::kLower, c);
  if (row == nullptr || (c - row->first) % row->step != 0) return c;
  return static_cast<char32_t>(static_cast<int32_t>(c) + row->added);
}

}  // namespace

std::u32string code_points(std::string_view where, std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    points += take_code_point(rest);
    require(points.back() != kNone, where, ": UTF-8 is wanted, got other bytes at byte ", text.size() - rest.size());
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

std::u32string lower_case(std::u32string_view text) {
  std::u32string lower;
  lower.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kCapitalDottedI) {
      lower += U"i\u0307";
    } else if (text[i] == kCapitalSigma && ends_a_word(text, i)) {
      lower += kFinalSigma;
    } else {
      lower += lower_case(text[i]);
    }
  }
  return lower;
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
