#include "attend/explain/colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace attend::explain {
namespace {

constexpr Colour kHeat[] = {{241, 248, 250}, {193, 225, 237}, {147, 201, 226}, {105, 174, 215}, {71, 147, 201},
                            {45, 118, 184},  {32, 89, 163},   {27, 62, 137},   {24, 35, 107}};
constexpr Colour kSides[] = {{133, 45, 0},    {166, 95, 47},   {198, 144, 108}, {227, 194, 171}, {246, 247, 247},
                             {179, 204, 233}, {123, 160, 208}, {72, 117, 180},  {25, 73, 151}};

constexpr Colour kLoudness[] = {{253, 253, 252}, {229, 230, 232}, {203, 205, 209}, {175, 179, 185}, {146, 151, 159},
                                {116, 122, 132}, {86, 93, 104},   {56, 63, 74},    {27, 32, 39}};

Colour between(std::span<const Colour> stops, double share) {
  const double at = std::clamp(std::isnan(share) ? 0.0 : share, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const size_t low = std::min(static_cast<size_t>(at), stops.size() - 2);
  const double rest = at - static_cast<double>(low);
  const auto mixed = [rest](int a, int b) { return static_cast<int>(std::lround(a + rest * (b - a))); };
  const Colour &a = stops[low], &b = stops[low + 1];
  return {mixed(a.red, b.red), mixed(a.green, b.green), mixed(a.blue, b.blue)};
}

}  // namespace

Colour sequential(double share) { return between(kHeat, share); }

Colour diverging(double share) { return between(kSides, std::isnan(share) ? 0.5 : 0.5 + share / 2); }

Colour loudness_colour(double share) { return between(kLoudness, share); }

Colour label_colour(int turn) {
  constexpr double kGolden = 137.508, kLightness = 0.87, kChroma = 0.085;  // OKLCh; turns by the golden angle
  const double hue = (40 + kGolden * turn) * std::numbers::pi / 180, a = kChroma * std::cos(hue),
               b = kChroma * std::sin(hue);
  const auto cubed = [](double x) { return x * x * x; };
  const double l = cubed(kLightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cubed(kLightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cubed(kLightness - 0.0894841775 * a - 1.2914855480 * b);
  const auto part = [](double linear) {
    const double x = std::clamp(linear, 0.0, 1.0);
    return static_cast<int>(std::lround(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055)));
  };
  return {part(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          part(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          part(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

std::string hex(const Colour& colour) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "#";
  for (const int part : {colour.red, colour.green, colour.blue}) {
    text += kDigits[static_cast<size_t>(part) / 16];
    text += kDigits[static_cast<size_t>(part) % 16];
  }
  return text;
}

double luminance(const Colour& colour) {
  const auto linear = [](int part) {
    const double x = part / 255.0;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

Colour ink_on(const Colour& colour) {
  return luminance(colour) > 0.179 ? Colour{} : Colour{255, 255, 255};  // where both contrasts are the same, 4.58
}

}  // namespace attend::explain
