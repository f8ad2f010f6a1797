#include "attend/data/puzzles.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "attend/base/random.h"

namespace attend::data {
namespace {

Random puzzle_random(uint64_t seed, int64_t index, const char* name) {
  return Random(seed, static_cast<uint64_t>(index)).named(name);
}

double drawn_between(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.uniform());
}

/// Ink where distance(x, y) is below 0, with an edge of a pixel.
template <class Distance>
void add_ink(Image& image, Distance distance) {
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      const double far = distance(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
      const auto value = static_cast<uint8_t>(std::lround(255 * std::clamp(0.5 - far, 0.0, 1.0)));
      image.at(y, x) = std::max(image.at(y, x), value);
    }
  }
}

void add_bar(Image& image, double x, double y, double angle) {
  constexpr double kHalf = 6, kThick = 1.5;
  const double ux = std::cos(angle), uy = std::sin(angle);
  add_ink(image, [=](double px, double py) {
    const double along = (px - x) * ux + (py - y) * uy, across = (py - y) * ux - (px - x) * uy;
    return std::hypot(std::max(0.0, std::abs(along) - kHalf), across) - kThick;
  });
}

struct PuzzleDot {
  double x, y, radius;
};

}  // namespace

LabelledImage odd_one(uint64_t seed, int64_t index) {
  constexpr double kTurned = 0.2, kMoved = 3, kCell = static_cast<double>(kPuzzleSide) / 2;  // radians, pixels
  Random random = puzzle_random(seed, index, "odd one");
  LabelledImage one{Image(kPuzzleSide, kPuzzleSide, 1), static_cast<int32_t>(random.below(kOddPlaces)),
                    "bars " + std::to_string(index)};
  const double angle = drawn_between(random, 0, std::numbers::pi);
  for (int32_t place = 0; place < kOddPlaces; ++place) {
    const double x = kCell * (place % 2 + 0.5) + drawn_between(random, -kMoved, kMoved);
    const double y = kCell * (place / 2 + 0.5) + drawn_between(random, -kMoved, kMoved);
    const double across = place == one.label ? std::numbers::pi / 2 : 0;
    add_bar(one.image, x, y, angle + across + drawn_between(random, -kTurned, kTurned));
  }
  return one;
}

LabelledImage dots(uint64_t seed, int64_t index) {
  constexpr double kLeast = 2.5, kMost = 4.5, kApart = 2.5;
  Random random = puzzle_random(seed, index, "dots");
  LabelledImage one{Image(kPuzzleSide, kPuzzleSide, 1), static_cast<int32_t>(random.below(kMostDots)),
                    "dots " + std::to_string(index)};
  std::vector<PuzzleDot> all;
  while (static_cast<int64_t>(all.size()) <= one.label) {  // five fit wherever four are
    const double radius = drawn_between(random, kLeast, kMost), margin = radius + 1;
    const PuzzleDot dot{drawn_between(random, margin, kPuzzleSide - margin),
                        drawn_between(random, margin, kPuzzleSide - margin), radius};
    const bool touches = std::ranges::any_of(
        all, [&](const PuzzleDot& d) { return std::hypot(d.x - dot.x, d.y - dot.y) < d.radius + dot.radius + kApart; });
    if (!touches) all.push_back(dot);
  }
  for (const PuzzleDot& dot : all) {
    add_ink(one.image, [&](double x, double y) { return std::hypot(x - dot.x, y - dot.y) - dot.radius; });
  }
  return one;
}

}  // namespace attend::data
