// UTF-8 text: checking it, and splitting it into words.
#pragma once

#include <string_view>
#include <vector>

#include "attend/base/utf8.h"

namespace attend::data {

/// Throws Error ("where: …") with the first byte that is not UTF-8, if there is one.
void check_utf8(std::string_view where, std::string_view text);

/// ASCII white space.
inline constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

/// The words of a text, split at ASCII white space. A no-break space is part of its word,
/// as its name suggests.
std::vector<std::string_view> split_words(std::string_view text);

/// Part of a line, without the white space before and behind it.
std::string_view trimmed(std::string_view text);

/// The text with a blank in place of each run of white space that has a line break or a tab in it: a line, or a column of one.
std::string on_one_line(std::string_view text);

/// The columns of a line, split at tabs, each trimmed; one if there is no tab.
std::vector<std::string_view> split_columns(std::string_view line);

}  // namespace attend::data
