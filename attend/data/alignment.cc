#include "attend/data/alignment.h"

#include <charconv>

#include "attend/base/error.h"

namespace attend::data {
namespace {

/// The number at the front of `text`, which is advanced past it; −1 if there is none.
int32_t take_number(std::string_view& text) {
  int32_t number = -1;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || number < 0) return -1;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

Link parse_link(std::string_view where, std::string_view word) {
  std::string_view rest = word;
  Link link;
  link.source = take_number(rest);
  const bool dash = link.source >= 0 && rest.starts_with('-');
  if (dash) rest.remove_prefix(1);
  link.target = dash ? take_number(rest) : -1;
  require(link.target >= 0 && rest.empty(), where, ": expected links as 0-0 2-1, got \"", word.substr(0, 40), "\"");
  return link;
}

}  // namespace

Links parse_links(std::string_view where, std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  Links links;
  for (size_t at = text.find_first_not_of(kSpace); at != text.npos; at = text.find_first_not_of(kSpace, at)) {
    const size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    links.push_back(parse_link(where, text.substr(at, end - at)));
    at = end;
  }
  return links;
}

std::string print_links(const Links& links) {
  std::string text;
  for (const Link& link : links) {
    text += (text.empty() ? "" : " ") + std::to_string(link.source) + "-" + std::to_string(link.target);
  }
  return text;
}

}  // namespace attend::data
