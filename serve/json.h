// JSON with its fields in the order in which they are written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace attend::serve {

using Json = nlohmann::ordered_json;

/// Compact; what is no UTF-8 is replaced.
inline std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace attend::serve
