// Reading a tree from text that lies on several lines of a file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "attend/data/tree.h"

namespace attend::data {

/// The place in a file of a byte of the text: "file:line".
using WhereInText = std::function<std::string(size_t at)>;

/// As parse_tree of tree.h, with messages that begin with the place of what they are about.
Tree parse_tree(std::string_view text, const WhereInText& where);

}  // namespace attend::data
