// Whether a text is well-formed XML, as far as our pictures use it: no comments, no CDATA, one declaration-free root.
#pragma once

#include <regex>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/utf8.h"

namespace attend::test {

/// What is wrong with it, and where; "" if nothing is.
inline std::string xml_objection(const std::string& xml) {
  try {
    data::check_utf8("xml", xml);
  } catch (const Error& error) {
    return error.what();
  }
  static const std::regex tag(R"re(^<(/?)([A-Za-z]+)((?:\s+[A-Za-z][A-Za-z0-9-]*="[^"<]*")*)\s*(/?)>)re");
  static const std::regex entity("^&(?:lt|gt|amp|quot);");
  std::vector<std::string> open;
  bool closed = false;
  for (size_t at = 0; at < xml.size();) {
    const std::string rest = xml.substr(at, 2000);
    std::smatch match;
    if (xml[at] == '<') {
      if (!std::regex_search(rest, match, tag)) return "no tag: " + rest.substr(0, 60);
      const bool ends = match[1].length() > 0, empty = match[4].length() > 0;
      if (closed) return "a second root: " + rest.substr(0, 60);
      if (ends && (open.empty() || open.back() != match[2])) return "closes what is not open: " + match[0].str();
      if (ends) open.pop_back();
      if (!ends && !empty) open.push_back(match[2]);
      closed = open.empty();
      at += static_cast<size_t>(match[0].length());
      continue;
    }
    if (xml[at] == '&' && !std::regex_search(rest, match, entity)) return "no entity: " + rest.substr(0, 20);
    if (static_cast<unsigned char>(xml[at]) < 0x20 && xml[at] != '\n' && xml[at] != '\t') return "a control character";
    ++at;
  }
  return open.empty() && closed ? "" : "not closed: " + (open.empty() ? "nothing there" : open.back());
}

}  // namespace attend::test
