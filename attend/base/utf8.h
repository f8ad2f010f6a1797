// UTF-8: what is well-formed (Unicode 15, table 3-7: no overlong forms, no surrogates), and what it stands for.
#pragma once

#include <cstddef>
#include <string_view>

namespace attend {

/// Number of bytes of the character at the front of `text`, which must not be empty; 0 if it is not UTF-8.
size_t character_bytes(std::string_view text);

/// The code point of one character, which must be valid UTF-8.
char32_t code_point(std::string_view character);

/// Offset of the first byte that is not UTF-8; the size of the text if there is none.
size_t first_fault(std::string_view text);

inline bool is_utf8(std::string_view text) { return first_fault(text) == text.size(); }

}  // namespace attend
