// The options of a search, as `attend run` and `attend eval` take them.
#pragma once

#include <string>

#include "attend/decode/search.h"

namespace attend::cli {

/// Why no search can have these options, in its own words; "" if it can.
std::string search_objection(const decode::SearchOptions& options);

}  // namespace attend::cli
