// Whether a text is well-formed, as far as one that writes SVG or a page by hand could get it wrong.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/utf8.h"

namespace attend::test {

/// "&" begins one of the five entities that our writers use.
inline bool entities_end(std::string_view text) {
  constexpr std::array<std::string_view, 5> kKnown = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
  for (size_t at = 0; (at = text.find('&', at)) != std::string_view::npos; ++at) {
    const auto begins = [&](std::string_view known) { return text.substr(at).starts_with(known); };
    if (std::ranges::none_of(kKnown, begins)) return false;
  }
  return true;
}

/// name="value" name="value": each value in quotes.
inline bool attributes_are_quoted(std::string_view tag) {
  size_t quotes = 0;
  for (size_t i = 0; i < tag.size(); ++i) {
    quotes += tag[i] == '"' ? 1 : 0;
    if (tag[i] == '=' && quotes % 2 == 0 && (i + 1 >= tag.size() || tag[i + 1] != '"')) return false;
  }
  return quotes % 2 == 0;
}

/// What is wrong with it; "" if nothing is. <meta> has no end in a page.
inline std::string xml_complaint(std::string_view text) {
  if (!is_utf8(text)) return "not UTF-8";
  std::vector<std::string> open;
  size_t at = 0;
  while (at < text.size()) {
    const size_t begin = std::min(text.find('<', at), text.size());
    if (!entities_end(text.substr(at, begin - at))) return "a bare & in: " + std::string(text.substr(at, begin - at));
    if (begin == text.size()) break;
    size_t end = begin + 1;
    for (bool in_quotes = false; end < text.size() && (in_quotes || text[end] != '>'); ++end) {
      if (text[end] == '"') in_quotes = !in_quotes;
    }
    if (end == text.size()) return "a tag without an end";
    const std::string_view tag = text.substr(begin + 1, end - begin - 1);
    at = end + 1;
    if (tag.starts_with('!') || tag.starts_with("meta")) continue;
    if (!attributes_are_quoted(tag) || !entities_end(tag)) return "attributes of <" + std::string(tag) + ">";
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "</" + std::string(tag.substr(1)) + "> ends nothing";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.emplace_back(tag.substr(0, tag.find_first_of(" \n")));
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is not ended";
}

}  // namespace attend::test
