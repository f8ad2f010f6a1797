// Word alignments: which word of a source corresponds to which word of its target, in Moses' format ("0-0 2-1").
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend::data {

/// Word `source` of one sentence corresponds to word `target` of the other; both count from 0.
struct Link {
  int32_t source = 0, target = 0;
  auto operator<=>(const Link&) const = default;
};
using Links = std::vector<Link>;

/// "0-0 2-1" → links, in the order of the text; throws Error with `where` and the word that is not a link.
Links parse_links(std::string_view where, std::string_view text);
std::string print_links(const Links& links);

}  // namespace attend::data
