// The sections of `attend list`.
#pragma once

#include <string_view>
#include <vector>

namespace attend::cli {

std::vector<std::string_view> list_sections();
/// One of them, as `attend list` prints it.
void print_list(std::string_view section);

}  // namespace attend::cli
