// The sections of `attend list`.
#pragma once

#include <string_view>
#include <vector>

namespace attend::cli {

std::vector<std::string_view> list_sections();

}  // namespace attend::cli
