// UTF-8 text: checking it, and splitting it into words.
#pragma once

#include <string_view>
#include <vector>

#include "attend/base/utf8.h"

namespace attend::data {

/// Throws Error ("where: …") with the first byte that is not UTF-8, if there is one.
void check_utf8(std::string_view where, std::string_view text);

/// The words of a text, split at ASCII white space (space, \t, \n, \v, \f, \r). A no-break space is part of its word,
/// as its name suggests.
std::vector<std::string_view> split_words(std::string_view text);

/// Part of a line, without the white space before and behind it.
std::string_view trimmed(std::string_view text);

}  // namespace attend::data
