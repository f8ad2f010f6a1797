#include "attend/explain/labels.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "attend/base/utf8.h"
#include "attend/data/display_width.h"
#include "attend/data/utf8.h"

namespace attend::explain {
namespace {

constexpr std::string_view kUnknown = "\uFFFD", kMore = "…";

struct Sign {
  char32_t point;
  std::string_view bytes;
};

/// The character at the front of `text`, which is advanced past it; a byte that is not UTF-8 is an unknown character.
Sign take_sign(std::string_view& text) {
  const size_t size = character_bytes(text);
  const std::string_view bytes = text.substr(0, std::max<size_t>(1, size));
  text.remove_prefix(bytes.size());
  return {size == 0 ? U'\uFFFD' : code_point(bytes), size == 0 ? kUnknown : bytes};
}

struct LetterRange {
  char32_t first, last;
};
bool in(std::span<const LetterRange> ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](const LetterRange& range) { return c >= range.first && c <= range.last; });
}

constexpr LetterRange kRightToLeft[] = {{0x590, 0x8FF}, {0xFB1D, 0xFDFF}, {0xFE70, 0xFEFC}, {0x10800, 0x10FFF}};

double width_of(char32_t c) {
  constexpr std::u32string_view kNarrow = U" iljtfrI.,;:'|!()[]{}-\u00A0", kBroad = U"mwMW@%▁&+<>=~—…";
  if (const size_t columns = data::sign_width(c); columns != 1) return columns == 0 ? 0 : 1.05;
  if (kNarrow.find(c) != kNarrow.npos) return 0.42;
  if (kBroad.find(c) != kBroad.npos) return 1;
  const bool small = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 0xDF && c <= 0x17F);
  return small ? 0.64 : 0.78;
}

/// As many characters from the front as fit `room`, by the `width` of each; with "…" if that is not all.
template <class Number, class Width>
std::string cut_text(std::string_view text, Number room, const Width& width) {
  Number used = 0;
  std::string kept, fits;  // fits: as much as leaves room for the "…"
  for (std::string_view rest = text; !rest.empty();) {
    const Sign sign = take_sign(rest);
    used += width(sign.point);
    kept += sign.bytes;
    if (used + width(U'…') <= room) fits = kept;
  }
  return used <= room ? kept : fits + std::string(kMore);
}

}  // namespace

double text_width(std::string_view text) {
  double width = 0;
  while (!text.empty()) width += width_of(take_sign(text).point);
  return width;
}

std::string shortened(std::string_view text, size_t columns) { return cut_text(text, columns, data::sign_width); }

std::string shortened_picture(std::string_view text, double width) { return cut_text(text, width, width_of); }

std::vector<std::string> wrapped(std::string_view text, double width, size_t most) {
  std::vector<std::string> lines;
  for (const std::string_view word : data::split_words(text)) {
    const std::string longer = lines.empty() ? "" : lines.back() + " " + std::string(word);
    if (!lines.empty() && text_width(longer) <= width) {
      lines.back() = longer;
    } else if (lines.size() == most) {
      lines.back() = shortened_picture(longer, width);
      break;
    } else {
      lines.push_back(shortened_picture(word, width));
    }
  }
  return lines;
}

std::string percent(double share) {
  return share > 0 && share < 0.005 ? "< 1 %" : std::to_string(std::lround(100 * share)) + " %";
}

bool right_to_left(std::string_view text) {
  while (!text.empty()) {
    if (in(kRightToLeft, take_sign(text).point)) return true;
  }
  return false;
}

std::string isolated(std::string_view text) {
  return right_to_left(text) ? "\u2068" + std::string(text) + "\u2069" : std::string(text);
}

std::string xml_escaped(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const auto [point, bytes] = take_sign(text);
    switch (point) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: {
        const bool none = (point < 0x20 && point != '\t' && point != '\n') || point == 0x7F || point >> 1 == 0x7FFF;
        safe += none ? kUnknown : bytes;
      }
    }
  }
  return safe;
}

}  // namespace attend::explain
