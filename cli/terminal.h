// Text on a terminal: how much of it fits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/display_width.h"

namespace attend::cli {

/// Columns of the terminal behind `file` (STDERR_FILENO …); `otherwise` where there is none.
size_t terminal_width(int file, size_t otherwise);

/// Whether standard output takes colours of 24 bits: "always", "never", or "auto", as it and the environment say.
bool true_colour(std::string_view wanted);

/// The beginning of the text that fits into so many columns, with "…" at its end if something is missing.
std::string cut(std::string_view text, size_t width);
/// The text in lines of at most `width` columns, broken at spaces; a word that is longer has a line to itself.
std::vector<std::string> wrap(std::string_view text, size_t width);

}  // namespace attend::cli
