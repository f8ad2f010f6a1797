// Unicode as far as scores of text need it: code points, blanks, categories and lower case, as Python has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend::data {

/// UTF-8 → code points; throws Error with `where` and the byte that is none of UTF-8 (RFC 3629).
std::u32string code_points(std::string_view where, std::string_view text);

/// What Python's str.split() splits at.
bool is_blank(char32_t c);

enum class Category : uint8_t { kOther, kPunctuation, kSymbol, kNumber };
/// General categories P, S and N; all else is other.
Category category(char32_t c);

/// Python's str.lower(): İ becomes two code points, and Σ at the end of a word ς.
std::u32string lower_case(std::u32string_view text);

/// Without the blanks at its end.
std::u32string_view without_trailing_blanks(std::u32string_view text);
/// The words between blanks; they point into `text`.
std::vector<std::u32string_view> split_at_blanks(std::u32string_view text);

}  // namespace attend::data
