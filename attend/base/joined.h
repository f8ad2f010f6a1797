// Lists as text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace attend {

/// The parts of a list, or what `part` makes of each, with `between` between them: "a, b, c".
template <class List, class Part = std::identity>
std::string joined(const List& list, std::string_view between = ", ", Part part = {}) {
  std::string text;
  bool first = true;
  for (const auto& one : list) {
    if (!std::exchange(first, false)) text += between;
    text += std::invoke(part, one);
  }
  return text;
}

}  // namespace attend
