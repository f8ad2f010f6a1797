// The Unicode that tokens and text scores need: code points, blanks, categories and lower case, as in Python.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend::data {

/// UTF-8 → code points; throws Error with `where` and the byte that is not UTF-8 (RFC 3629).
std::u32string code_points(std::string_view where, std::string_view text);

/// What Python's str.split() splits at.
bool is_blank(char32_t c);

enum class Category : uint8_t { kOther, kPunctuation, kSymbol, kNumber };
/// General categories P, S and N; all else is other.
Category category(char32_t c);

/// Python's str.isalnum() of one code point.
bool is_letter_or_digit(char32_t c);

/// Python's str.lower(): İ becomes two code points, and Σ at the end of a word ς.
std::u32string lower_case(std::u32string_view text);

/// UTF-8 with lower-case letters in place of capitals, each with as many bytes as before, so that offsets in the text
/// still hold. Letters whose lower case has another length (İ, ẞ, Ⱥ, the Kelvin sign) and bytes that are not UTF-8 are
/// kept.
std::string lowercased(std::string_view text);
/// A capital and its small letter.
struct CasePair {
  char32_t capital, small;
};
/// All that lowercased() changes.
std::vector<CasePair> case_pairs();

/// Without the blanks at its end.
std::u32string_view without_trailing_blanks(std::u32string_view text);
/// The words between blanks; they point into `text`.
std::vector<std::u32string_view> split_at_blanks(std::u32string_view text);

}  // namespace attend::data
