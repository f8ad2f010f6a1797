// The shells that `attend completion` has scripts for.
#pragma once

#include <string_view>
#include <vector>

namespace attend::cli {

std::vector<std::string_view> shells();

}  // namespace attend::cli
