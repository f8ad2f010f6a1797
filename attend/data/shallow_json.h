// JSON that is not trusted, of a format that is not deep.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace attend::data {

/// The value that `text` spells, with lists and objects at most `deepest` within each other (an object of lists: 2).
/// Anything deeper is rejected as it is read, before it could exhaust the stack. A discarded value if it is that, or
/// not JSON at all.
nlohmann::json shallow_json(std::string_view text, int deepest);

}  // namespace attend::data
