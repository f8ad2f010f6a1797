#include "attend/base/names.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace attend {

size_t edit_distance(std::string_view from, std::string_view to) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; };
  std::vector<size_t> row(to.size() + 1);  // row[j]: from the first i letters to the first j
  for (size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t changed = diagonal + (lower(from[i - 1]) != lower(to[j - 1]));
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[to.size()];
}

std::string quoted(std::string_view text) {
  constexpr size_t kLongest = 80;
  constexpr const char* kDigits = "0123456789abcdef";
  std::string shown = "\"";
  size_t end = std::min(text.size(), kLongest);
  while (end > 0 && end < text.size() && (text[end] & 0xc0) == 0x80) --end;  // not within a letter of UTF-8
  for (const char c : text.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      shown += c;
    } else {
      shown.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    }
  }
  return shown + (end < text.size() ? "…\"" : "\"");
}

size_t misspelt_by(size_t length) { return length < 3 ? 1 : length < 9 ? 2 : 3; }

std::string_view nearest_name(std::span<const std::string_view> known, std::string_view name) {
  std::string_view nearest;
  size_t least = misspelt_by(name.size()) + 1;
  for (const std::string_view one : known) {
    const size_t far = edit_distance(name, one);
    if (far < least) nearest = one, least = far;
  }
  return nearest;
}

std::string not_among(std::span<const std::string_view> known, std::string_view name) {
  std::string menu;
  for (const std::string_view one : known) menu.append(menu.empty() ? "" : ", ").append(one.empty() ? "\"\"" : one);
  if (known.empty()) return "nothing of that kind is known, got " + quoted(name);
  const std::string said = "expected one of " + menu + ", got " + quoted(name);
  const std::string_view nearest = nearest_name(known, name);
  return nearest.empty() ? said : said + "; the nearest is \"" + std::string(nearest) + "\"";
}

void refuse_name(std::string_view where, std::span<const std::string_view> known, std::string_view name) {
  throw OptionError(std::string(where), not_among(known, name));
}

}  // namespace attend
