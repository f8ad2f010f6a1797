#include "attend/data/display_width.h"

#include <algorithm>

#include "attend/base/utf8.h"

namespace attend::data {
namespace {

struct Range {
  char32_t first, last;
};
/// Marks above and below other characters, and invisible ones: those of Latin, Cyrillic, Hebrew, Arabic, Devanagari,
/// Bengali, Thai and Japanese, of mathematics, the joiners and the direction marks.
constexpr Range kNoWidth[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x5BF, 0x5BF},   {0x5C1, 0x5C2},
                              {0x5C4, 0x5C5},   {0x5C7, 0x5C7},   {0x610, 0x61A},   {0x64B, 0x65F},   {0x670, 0x670},
                              {0x6D6, 0x6DC},   {0x6DF, 0x6E4},   {0x900, 0x902},   {0x93A, 0x93A},   {0x93C, 0x93C},
                              {0x941, 0x948},   {0x94D, 0x94D},   {0x951, 0x957},   {0x981, 0x981},   {0x9BC, 0x9BC},
                              {0x9C1, 0x9C4},   {0x9CD, 0x9CD},   {0xE31, 0xE31},   {0xE34, 0xE3A},   {0xE47, 0xE4E},
                              {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069},
                              {0x20D0, 0x20F0}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};
constexpr Range kWide[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                           {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};

/// A character, and the columns that it takes.
struct Shown {
  size_t bytes, width;
};

Shown first_of(std::string_view text) {
  const size_t bytes = character_bytes(text);
  if (bytes == 0) return {1, 1};
  return {bytes, sign_width(code_point(text.substr(0, bytes)))};
}

}  // namespace

size_t sign_width(char32_t c) {
  const auto has = [c](const Range& range) { return c >= range.first && c <= range.last; };
  if (std::ranges::any_of(kNoWidth, has)) return 0;
  return std::ranges::any_of(kWide, has) ? 2 : 1;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Shown first = first_of(text);
    width += first.width;
    text.remove_prefix(first.bytes);
  }
  return width;
}

size_t bytes_within(std::string_view text, size_t width) {
  size_t at = 0;
  while (at < text.size()) {
    const Shown next = first_of(text.substr(at));
    if (next.width > width) break;
    width -= next.width;
    at += next.bytes;
  }
  return at;
}

}  // namespace attend::data
