#include "attend/explain/heatmap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string_view>

#include "attend/base/error.h"

namespace attend::explain {
namespace {

constexpr std::array<std::string_view, 5> kShades = {"  ", "░░", "▒▒", "▓▓", "██"};
constexpr size_t kCell = 3;  // a shade is two columns, with one between

/// The code point that begins at `at`, which moves behind it; the text is UTF-8.
char32_t next_sign(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned char first = byte(at);
  const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t sign = length == 1 ? first : first & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) sign = (sign << 6) | (byte(at + i) & 0x3F);
  at += length;
  return sign;
}

struct Range {
  char32_t first, last;
};
/// Marks above and below other signs, and signs that are not shown: those of Latin, Cyrillic, Hebrew, Arabic, Devanagari,
/// Bengali, Thai and Japanese, of mathematics, and the joiners.
constexpr Range kNoWidth[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x5BF, 0x5BF},   {0x5C1, 0x5C2},
                              {0x5C4, 0x5C5},   {0x5C7, 0x5C7},   {0x610, 0x61A},   {0x64B, 0x65F},   {0x670, 0x670},
                              {0x6D6, 0x6DC},   {0x6DF, 0x6E4},   {0x900, 0x902},   {0x93A, 0x93A},   {0x93C, 0x93C},
                              {0x941, 0x948},   {0x94D, 0x94D},   {0x951, 0x957},   {0x981, 0x981},   {0x9BC, 0x9BC},
                              {0x9C1, 0x9C4},   {0x9CD, 0x9CD},   {0xE31, 0xE31},   {0xE34, 0xE3A},   {0xE47, 0xE4E},
                              {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x20D0, 0x20F0}, {0x3099, 0x309A},
                              {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};
constexpr Range kWide[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                           {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};

size_t sign_width(char32_t c) {
  const auto has = [c](const Range& range) { return c >= range.first && c <= range.last; };
  if (std::ranges::any_of(kNoWidth, has)) return 0;
  return std::ranges::any_of(kWide, has) ? 2 : 1;
}

std::string padded_left(const std::string& text, size_t width) {
  const size_t has = display_width(text);
  return std::string(width > has ? width - has : 0, ' ') + text;
}

void check_shape(const char* where, const Tensor& weights, std::span<const std::string> rows,
                 std::span<const std::string> columns) {
  require(weights.rank() == 2 && weights.dim(0) == static_cast<int64_t>(rows.size()) &&
              weights.dim(1) == static_cast<int64_t>(columns.size()),
          where, ": weights [", rows.size(), ",", columns.size(), "] are wanted, got ", weights.shape());
}

size_t widest(std::span<const std::string> labels) {
  size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, display_width(label));
  return width;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '&')
      safe += "&amp;";
    else
      safe += c;
  }
  return safe;
}

/// From nearly white to dark blue.
std::string shade_of(double weight) {
  constexpr std::array<double, 3> kNone = {240, 243, 248}, kAll = {16, 63, 133};
  const double w = std::clamp(weight, 0.0, 1.0);
  std::array<char, 8> text{};
  const auto mixed = [&](size_t i) { return static_cast<unsigned>(std::lround(kNone[i] + w * (kAll[i] - kNone[i]))); };
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", mixed(0) & 255U, mixed(1) & 255U, mixed(2) & 255U);
  return text.data();
}

/// Labels above columns, each on a line of its own with a thin line down to its column: the last one first.
std::string headings(std::span<const std::string> columns, size_t margin) {
  std::string text;
  for (size_t shown = columns.size(); shown-- > 0;) {
    text += std::string(margin, ' ');
    for (size_t c = 0; c < shown; ++c) text += "│  ";
    text += columns[shown] + "\n";
  }
  return text;
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) width += sign_width(next_sign(text, at));
  return width;
}

std::string text_heatmap(const Tensor& weights, std::span<const std::string> rows,
                         std::span<const std::string> columns) {
  check_shape("text_heatmap", weights, rows, columns);
  const size_t margin = widest(rows) + 3;
  std::string text = headings(columns, margin);
  for (size_t r = 0; r < rows.size(); ++r) {
    text += padded_left(rows[r], margin - 1) + " ";
    for (size_t c = 0; c < columns.size(); ++c) {
      const double weight = static_cast<double>(weights.data()[r * columns.size() + c]);
      const size_t shade = static_cast<size_t>(std::min(0.99, std::max(0.0, weight)) * kShades.size());
      text += std::string(kShades[shade]) + (c + 1 < columns.size() ? std::string(kCell - 2, ' ') : "");
    }
    while (text.ends_with(' ')) text.pop_back();
    text += "\n";
  }
  return text;
}

std::string svg_heatmap(const Tensor& weights, std::span<const std::string> rows,
                        std::span<const std::string> columns) {
  check_shape("svg_heatmap", weights, rows, columns);
  constexpr size_t kSide = 30, kLetter = 8, kGap = 8;  // a cell, a letter's width, between a label and the cells
  const size_t left = kGap + kLetter * widest(rows) + kGap;
  const size_t top = kGap + kLetter * widest(columns) * 7 / 10 + kGap;  // labels slant by 45 degrees
  const size_t width = left + kSide * columns.size() + top, height = top + kSide * rows.size() + kGap;
  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height << "\" width=\"" << width
      << "\" height=\"" << height << "\" font-family=\"sans-serif\" font-size=\"14\">\n"
      << "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#ffffff\"/>\n";
  for (size_t c = 0; c < columns.size(); ++c) {
    const size_t x = left + kSide * c + kSide / 2, y = top - kGap;
    svg << "<text x=\"" << x << "\" y=\"" << y << "\" transform=\"rotate(-45 " << x << ' ' << y << ")\">"
        << escaped(columns[c]) << "</text>\n";
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    const size_t y = top + kSide * r;
    svg << "<text x=\"" << left - kGap << "\" y=\"" << y + kSide * 2 / 3 << "\" text-anchor=\"end\">"
        << escaped(rows[r]) << "</text>\n";
    for (size_t c = 0; c < columns.size(); ++c) {
      const double weight = static_cast<double>(weights.data()[r * columns.size() + c]);
      svg << "<rect x=\"" << left + kSide * c << "\" y=\"" << y << "\" width=\"" << kSide - 1 << "\" height=\""
          << kSide - 1 << "\" fill=\"" << shade_of(weight) << "\"><title>" << escaped(rows[r]) << " ← "
          << escaped(columns[c]) << ' ' << std::lround(100 * weight) << " %</title></rect>\n";
    }
  }
  svg << "</svg>\n";
  return svg.str();
}

}  // namespace attend::explain
