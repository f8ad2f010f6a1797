// Which endpoint a path means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attend::serve {

/// The parts of `path` that stand where `pattern` has {names}: one part each, or the name of a model of the lab, which has three;
/// nothing where it does not fit.
std::optional<std::vector<std::string>> names_in(std::string_view pattern, std::string_view path);

}  // namespace attend::serve
