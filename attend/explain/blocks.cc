#include "attend/explain/blocks.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace attend::explain {
namespace {

constexpr Colour kPathColour{255, 176, 0};

std::string parts(const Colour& c) {
  return std::to_string(c.red) + ";" + std::to_string(c.green) + ";" + std::to_string(c.blue);
}

}  // namespace

Colour colour_at(const data::Image& image, int64_t y, int64_t x) {
  const auto part = [&](int64_t c) { return static_cast<int>(image.at(y, x, image.channels == 1 ? 0 : c)); };
  return {part(0), part(1), part(2)};
}

Lines half_blocks(const data::Image& image, const std::vector<Mark>& marks) {
  Lines lines;
  for (int64_t line = 0; line < (image.height + 1) / 2; ++line) {
    std::string text;
    for (int64_t x = 0; x < image.width; ++x) {
      const auto at = [&](const Mark& mark) { return mark.line == line && mark.column == x; };
      if (const auto mark = std::ranges::find_if(marks, at); mark != marks.end()) {
        text += "\x1b[48;2;" + parts(kPathColour) + ";38;2;0;0;0m" + mark->sign + "\x1b[0m";
        continue;
      }
      text += "\x1b[38;2;" + parts(colour_at(image, 2 * line, x));
      if (2 * line + 1 < image.height) text += ";48;2;" + parts(colour_at(image, 2 * line + 1, x));
      text += "m▀\x1b[0m";
    }
    lines.push_back(text);
  }
  return lines;
}

Lines shades(const Tensor& shares, const std::vector<Mark>& marks) {
  constexpr std::array<std::string_view, 5> kShades = {"·", "░", "▒", "▓", "█"};
  Lines lines;
  for (int64_t line = 0; line < shares.dim(0); ++line) {
    std::string text;
    for (int64_t x = 0; x < shares.dim(1); ++x) {
      const auto at = [&](const Mark& mark) { return mark.line == line && mark.column == x; };
      const double share = static_cast<double>(shares.data()[line * shares.dim(1) + x]);
      const auto mark = std::ranges::find_if(marks, at);
      text += mark != marks.end()
                  ? std::string(1, mark->sign)
                  : std::string(kShades[static_cast<size_t>(std::clamp(share, 0.0, 0.99) * kShades.size())]);
    }
    lines.push_back(text);
  }
  return lines;
}

}  // namespace attend::explain
