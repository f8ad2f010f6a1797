// The options of a search, as `attend run`, `attend eval` and `attend explain` take them.
#pragma once

#include <string>

#include "attend/decode/search.h"

namespace attend::cli {

/// Whose defaults the options of a search have, for help that is asked for before a model is named.
inline constexpr const char* kModelsOwn = "the model's own, as its folder has them";

/// Why no search can have these options, in its own words; "" if it can.
std::string search_objection(const decode::SearchOptions& options);

}  // namespace attend::cli
