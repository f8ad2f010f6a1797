// UTF-8: what is well-formed (Unicode 15, table 3-7: no overlong forms, no surrogates), and what it stands for.
#pragma once

#include <cstddef>
#include <string_view>

namespace attend {

/// Bytes of the character at the front of `text`, which is not empty; 0 where it is not UTF-8.
size_t character_bytes(std::string_view text);

/// Of one character, which is UTF-8.
char32_t code_point(std::string_view character);

/// Where the first byte lies that is not UTF-8; the size if there is none.
size_t first_fault(std::string_view text);

inline bool is_utf8(std::string_view text) { return first_fault(text) == text.size(); }

}  // namespace attend
