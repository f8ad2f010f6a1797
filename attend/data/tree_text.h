// Reading a tree from text that spans several lines of a file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "attend/data/tree.h"

namespace attend::data {

/// Where a byte of the text is in the file: "file:line".
using WhereInText = std::function<std::string(size_t at)>;

/// As parse_tree of tree.h, with messages that begin with the place they refer to.
Tree parse_tree(std::string_view text, const WhereInText& where);

}  // namespace attend::data
