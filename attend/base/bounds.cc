#include "attend/base/bounds.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "attend/base/names.h"

namespace attend {
namespace {

template <class Number>
std::string printed(Number value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

/// 10000 rather than 1e+04.
std::string printed_bound(double bound) {
  return bound == std::floor(bound) && std::abs(bound) < 0x1p53 ? printed(static_cast<int64_t>(bound)) : printed(bound);
}

std::string in_words(const Bounds& b) {
  const std::string least = printed_bound(b.least), most = printed_bound(b.most);
  if (std::isfinite(b.least) && std::isfinite(b.most) && !b.above && !b.below) return least + " to " + most;
  std::string text;
  if (std::isfinite(b.least)) text = (b.above ? "more than " : "at least ") + least;
  if (!std::isfinite(b.most)) return text;
  return text + (text.empty() ? "" : " and ") + (b.below ? "less than " : "at most ") + most;
}

template <class Number>
std::string number_objection(Number number, const Bounds& b) {
  const double value = static_cast<double>(number);
  const bool fits = (b.above ? value > b.least : value >= b.least) && (b.below ? value < b.most : value <= b.most);
  return fits ? "" : "expected " + in_words(b) + ", got " + printed(number);
}

bool are_widths(const std::string& text, const Bounds& bounds) {
  for (const char *at = text.data(), *const end = at + text.size();; ++at) {
    int64_t width = 0;
    const auto [next, error] = std::from_chars(at, end, width);
    if (error != std::errc() || !number_objection(width, bounds).empty()) return false;
    if (next == end) return true;
    if (*next != ',') return false;
    at = next;
  }
}

}  // namespace

std::string objection(double value, const Bounds& bounds) {
  if (!std::isfinite(value)) return "expected a finite number, got " + printed(value);
  return number_objection(value, bounds);
}

std::string objection(int64_t value, const Bounds& bounds) { return number_objection(value, bounds); }

std::string objection(const std::string& value, const Bounds& bounds) {
  if (bounds.widths && !are_widths(value, bounds)) {
    return "expected whole numbers of " + in_words(bounds) + " with commas between them, such as 32,64, got " +
           quoted(value);
  }
  if (bounds.names.empty() || std::ranges::find(bounds.names, value) != bounds.names.end()) return "";
  return not_among(bounds.names, value);
}

}  // namespace attend
