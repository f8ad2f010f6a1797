#include "serve/routes.h"

#include <span>

namespace attend::serve {
namespace {

using Segments = std::vector<std::string_view>;

Segments segments_of(std::string_view path) {
  Segments all;
  for (size_t begin = 0;;) {
    const size_t end = path.find('/', begin);
    all.push_back(path.substr(begin, end - begin));
    if (end == path.npos) return all;
    begin = end + 1;
  }
}

bool fits(std::span<const std::string_view> pattern, std::span<const std::string_view> path,
          std::vector<std::string>& names) {
  if (pattern.empty() || path.empty()) return pattern.empty() && path.empty();
  if (!pattern[0].starts_with('{')) {
    return pattern[0] == path[0] && fits(pattern.subspan(1), path.subspan(1), names);
  }
  for (const size_t parts : {size_t{3}, size_t{1}}) {
    if (path.size() < parts || (parts > 1 && path[0] != "lab")) continue;
    std::string name;
    bool whole = true;
    for (size_t i = 0; i < parts; ++i) {
      whole = whole && !path[i].empty();
      name.append(i == 0 ? "" : "/").append(path[i]);
    }
    names.push_back(std::move(name));
    if (whole && fits(pattern.subspan(1), path.subspan(parts), names)) return true;
    names.pop_back();
  }
  return false;
}

}  // namespace

std::optional<std::vector<std::string>> names_in(std::string_view pattern, std::string_view path) {
  std::vector<std::string> names;
  if (!fits(segments_of(pattern), segments_of(path), names)) return std::nullopt;
  return names;
}

}  // namespace attend::serve
