// How much room a text takes on a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace attend::data {

/// Columns that a text takes: combining marks none, wide East Asian signs two, all else one, a byte that is not UTF-8 too.
size_t display_width(std::string_view text);

/// The same of one sign: 0, 1 or 2.
size_t sign_width(char32_t sign);

/// Bytes of the longest beginning of the text that takes at most so many columns.
size_t bytes_within(std::string_view text, size_t width);

}  // namespace attend::data
