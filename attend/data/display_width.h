// How much room a text takes on a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace attend::data {

/// Columns that a text takes: combining marks none, wide East Asian characters two, all else one, including bytes that
/// are not UTF-8.
size_t display_width(std::string_view text);

/// The same for one character: 0, 1 or 2.
size_t sign_width(char32_t sign);

/// Number of bytes of the longest prefix of the text that takes at most `width` columns.
size_t bytes_within(std::string_view text, size_t width);

}  // namespace attend::data
