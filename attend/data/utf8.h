// Text as UTF-8: what is well-formed, words, characters, lower case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend::data {

/// Throws Error ("where: …") unless `text` is UTF-8 (Unicode 15, table 3-7: no overlong forms, no surrogates).
void check_utf8(std::string_view where, std::string_view text);

/// Bytes of the character at the front of `text`, which is not empty; 0 where it is not UTF-8.
size_t character_bytes(std::string_view text);

/// Of one character, which is UTF-8.
char32_t code_point(std::string_view character);

/// The words of a text: what lies between white space, which is that of ASCII (space, \t, \n, \v, \f, \r). A no-break space
/// is part of its word, as its name wants.
std::vector<std::string_view> split_words(std::string_view text);

/// Capitals → small letters, each with as many bytes as before, so that places in the text stay: the letters of ASCII,
/// Latin, Greek, Cyrillic and Armenian. Left alone are İ and ẞ, whose small forms are shorter.
std::string lowercased(std::string_view text);

/// A capital and its small letter, as code points.
struct CasePair {
  char32_t capital, small;
};
/// All that lowercased() changes.
std::vector<CasePair> case_pairs();

}  // namespace attend::data
