#include "attend/data/name_pattern.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend::data {

NamePattern::NamePattern(std::string_view pattern) : text_(pattern) {
  constexpr std::string_view kKnown[] = {"label", "group", "number", ""};
  const auto refuse = [&](const auto&... what) {
    fail_option("pattern",
                "expected a pattern such as {label}_{group}_{number}, with {} for what does not matter, got ",
                quoted(text_), what...);
  };
  std::string_view rest = text_;
  front_ = rest.substr(0, rest.find('{'));
  rest.remove_prefix(front_.size());
  while (!rest.empty()) {
    const size_t close = rest.find('}');
    if (close == rest.npos) refuse(", a brace of which is not closed");
    const std::string name(rest.substr(1, close - 1));
    if (std::ranges::find(kKnown, name) == std::end(kKnown)) refuse(", with the unknown part ", quoted(name));
    if (!name.empty() && has(name)) refuse(", which has ", quoted(name), " twice");
    rest.remove_prefix(close + 1);
    std::string behind(rest.substr(0, rest.find('{')));
    rest.remove_prefix(behind.size());
    if (behind.empty() && !rest.empty()) refuse(", which has nothing between two parts");
    parts_.push_back({name, std::move(behind)});
  }
  if (parts_.empty()) refuse(", which has no part");
}

bool NamePattern::has(std::string_view name) const {
  return std::ranges::any_of(parts_, [&](const Part& part) { return part.name == name; });
}

std::optional<NameParts> NamePattern::match(std::string_view name) const {
  if (!name.starts_with(front_)) return std::nullopt;
  name.remove_prefix(front_.size());
  NameParts parts;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const auto& [what, behind] = parts_[i];
    size_t end = name.find(behind, 1);
    if (i + 1 == parts_.size()) end = name.ends_with(behind) ? name.size() - behind.size() : name.npos;
    if (name.empty() || end == name.npos || end == 0) return std::nullopt;
    const std::string_view part = name.substr(0, end);
    if (what == "label") parts.label = part;
    if (what == "group") parts.group = part;
    if (what == "number") {
      const auto [last, problem] = std::from_chars(part.data(), part.data() + part.size(), parts.number);
      if (problem != std::errc() || last != part.data() + part.size() || parts.number < 0) return std::nullopt;
    }
    name.remove_prefix(end + behind.size());
  }
  return parts;
}

}  // namespace attend::data
