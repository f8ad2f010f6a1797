#include "attend/data/digits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string_view>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/random.h"
#include "attend/data/builtin_split.h"

namespace attend::data {
namespace {

// How people write each digit: points that a pen passes through, x to the right and y down in 0…100, on a curve
// (Catmull–Rom). A point given twice is a corner; "|" lifts the pen.
constexpr std::string_view kStrokes[] = {
    "50,4 28,14 18,45 24,82 50,96 76,82 82,48 72,14 50,4",        // 0
    "62,8 40,4 24,28 20,62 36,94 60,92 78,62 76,26 58,6 44,8",    //
    "56,10 34,8 20,36 24,78 48,94 72,84 80,48 68,16 50,12",       //
    "44,8 22,24 16,56 32,90 60,94 82,68 80,30 60,8 40,10",        //
    "50,3 51,35 49,65 50,97",                                     // 1
    "34,22 54,4 54,4 52,50 50,97",                                //
    "36,20 52,4 52,4 52,96|32,96 72,96",                          //
    "56,3 50,40 46,70 44,97",                                     //
    "40,14 52,3 52,3 50,96",                                      //
    "22,26 34,8 58,4 74,20 68,44 46,68 22,92 22,92 50,92 80,94",  // 2
    "20,24 38,6 64,8 72,30 56,58 32,84 20,92 24,76 42,80 60,92 82,88",
    "26,20 48,4 72,14 72,38 50,64 24,94 24,94 78,90",              //
    "24,10 50,5 76,8 76,8 50,50 22,92 22,92 52,94 80,92",          //
    "24,30 30,8 56,2 70,22 60,50 36,78 18,94 40,86 62,94 84,86",   //
    "24,14 46,4 70,14 66,36 42,48 42,48 70,58 76,80 54,96 22,88",  // 3
    "24,6 50,6 74,6 74,6 44,42 44,42 70,52 76,74 58,94 24,90",     //
    "26,18 48,4 68,18 58,40 40,46 64,52 76,72 62,92 38,96 20,84",  //
    "22,16 44,4 66,12 68,34 48,48 40,44 50,40 70,54 78,76 58,96 24,92",
    "30,5 24,34 20,58 20,58 50,58 82,54|62,30 60,62 58,97",                    // 4
    "62,4 40,34 18,64 18,64 50,64 84,62|62,4 62,50 60,97",                     //
    "26,6 22,32 28,52 50,56 70,48|74,4 68,44 60,97",                           //
    "64,96 66,50 66,4 66,4 42,34 20,62 20,62 84,62",                           //
    "34,4 22,50 22,50 78,52|72,6 64,50 56,98",                                 //
    "74,6 32,6 32,6 28,44 28,44 52,38 74,54 72,82 48,96 22,86",                // 5
    "34,6 28,44 28,44 56,40 76,60 68,88 42,96 20,84|34,6 78,4",                //
    "72,10 48,6 30,18 36,40 60,50 72,68 62,90 38,96 20,84",                    //
    "76,6 40,8 40,8 30,46 30,46 56,44 70,62 60,88 30,96",                      //
    "64,4 40,24 24,56 26,84 48,96 70,84 72,62 52,52 30,64",                    // 6
    "56,3 36,30 26,64 32,90 54,96 72,80 66,60 46,58 30,74",                    //
    "72,8 48,14 28,44 22,74 40,95 64,90 74,70 60,54 38,60 26,76",              //
    "46,3 34,40 26,76 42,96 64,88 66,66 46,60 28,76",                          //
    "20,10 50,8 78,8 78,8 60,44 44,96",                                        // 7
    "20,10 50,8 78,8 78,8 60,46 46,96|34,52 74,48",                            //
    "22,22 22,8 22,8 50,10 80,8 80,8 62,40 52,96",                             //
    "18,14 40,6 66,10 78,6 66,36 52,60 48,97",                                 //
    "24,8 76,10 76,10 70,40 58,70 40,94",                                      //
    "68,14 46,4 28,18 38,40 60,54 74,76 54,96 28,86 30,64 54,46 70,26 64,12",  // 8
    "50,4 30,16 34,38 50,46 68,36 70,14 50,4|50,46 28,60 26,86 50,96 74,86 72,60 50,46",
    "72,20 56,4 34,12 34,34 54,50 70,70 60,94 34,94 26,74 44,52 66,34 74,18",
    "50,48 28,30 36,8 60,4 72,22 54,46 30,66 30,90 54,97 72,82 64,60 46,46",
    "70,26 56,6 32,10 24,34 40,50 62,42 72,20 72,20 70,56 64,96",  // 9
    "72,18 50,4 28,18 30,42 52,50 70,34 74,16 70,56 52,84 28,96",  //
    "66,8 42,6 26,26 34,46 56,46 70,24 70,6 70,6 68,50 66,97",     //
    "68,30 64,8 40,4 26,24 36,46 60,44 70,24 64,60 50,96",         //
};
/// How many of kStrokes each digit has, in order.
constexpr size_t kWays[10] = {4, 5, 5, 4, 5, 4, 4, 5, 4, 4};
static_assert(std::accumulate(std::begin(kWays), std::end(kWays), size_t{0}) == std::size(kStrokes));

constexpr int64_t kSize = 28;
constexpr float kInkSize = 20;  // MNIST's digits were fitted into 20×20

struct Point {
  float x = 0, y = 0;
};
Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator*(float s, Point p) { return {s * p.x, s * p.y}; }

using Stroke = std::vector<Point>;
using Glyph = std::vector<Stroke>;

Glyph parse_glyph(std::string_view text) {
  Glyph glyph(1);
  const char *at = text.data(), *end = at + text.size();
  const auto number = [&] {
    float value = 0;
    const auto [rest, problem] = std::from_chars(at, end, value);
    require(problem == std::errc(), "digits: expected a number in the strokes, got \"", text, "\"");
    at = rest;
    return value;
  };
  while (at != end) {
    if (*at == ' ') {
      ++at;
    } else if (*at == '|') {
      glyph.emplace_back(), ++at;
    } else {
      const float x = number();
      ++at;  // the comma
      glyph.back().push_back({x, number()});
    }
  }
  return glyph;
}

/// ways[digit]: all glyphs of it.
std::array<std::vector<Glyph>, 10> parse_all() {
  std::array<std::vector<Glyph>, 10> ways;
  const std::string_view* text = kStrokes;
  for (size_t digit = 0; digit < ways.size(); ++digit) {
    for (size_t way = 0; way < kWays[digit]; ++way) ways[digit].push_back(parse_glyph(*text++));
  }
  return ways;
}

/// Around 0 within ±most, denser in the middle.
float around(Random& random, float most) { return most * (random.uniform() + random.uniform() - 1); }

/// A smooth field of displacements: a few long waves.
class Warp {
 public:
  explicit Warp(Random& random) {
    for (Wave& wave : waves_) {
      wave = {{around(random, 7), around(random, 7)},
              {around(random, 0.11F), around(random, 0.11F)},
              between(random, 0, 2 * std::numbers::pi_v<float>)};
    }
  }
  Point operator()(Point p) const {
    Point moved = p;
    for (const Wave& w : waves_) moved = moved + std::sin(w.pitch.x * p.x + w.pitch.y * p.y + w.phase) * w.reach;
    return moved;
  }

 private:
  struct Wave {
    Point reach, pitch;  // pitch: radians per unit
    float phase = 0;
  };
  std::array<Wave, 3> waves_;
};

/// The hand of one writer: jitter of every point, aspect, slant, turn and warp of the whole.
void write_by_hand(Glyph& glyph, Random& random) {
  const float wide = between(random, 0.62F, 1.08F), slant = 0.12F + around(random, 0.6F), turn = around(random, 0.4F);
  const float cosine = std::cos(turn), sine = std::sin(turn);
  const Warp warp(random);
  for (Stroke& stroke : glyph) {
    Point previous, jitter;
    for (Point& p : stroke) {
      const bool corner = &p != stroke.data() && p.x == previous.x && p.y == previous.y;
      previous = p;
      if (!corner) jitter = {around(random, 10), around(random, 10)};
      const Point q = warp(p + jitter) - Point{50, 50};
      const float x = wide * q.x - slant * q.y;
      p = {cosine * x - sine * q.y, sine * x + cosine * q.y};
    }
  }
}

/// Points densely along the Catmull–Rom curve through those of the stroke.
Stroke smooth(const Stroke& stroke) {
  constexpr int kPieces = 6;
  Stroke curve;
  curve.reserve(stroke.size() * kPieces);
  const size_t last = stroke.size() - 1;
  for (size_t i = 0; i < last; ++i) {
    const Point a = stroke[i == 0 ? 0 : i - 1], b = stroke[i], c = stroke[i + 1], d = stroke[std::min(i + 2, last)];
    if (b.x == c.x && b.y == c.y) continue;
    const Point out = 0.5F * (c - a), in = 0.5F * (d - b);
    for (int k = 0; k < kPieces; ++k) {
      const float t = static_cast<float>(k) / kPieces, t2 = t * t, t3 = t2 * t;
      curve.push_back((2 * t3 - 3 * t2 + 1) * b + (t3 - 2 * t2 + t) * out + (3 * t2 - 2 * t3) * c + (t3 - t2) * in);
    }
  }
  curve.push_back(stroke[last]);
  return curve;
}

/// Strokes may start late and end early: leaves out up to a tenth at both ends.
void trim(Stroke& curve, Random& random) {
  const auto count = static_cast<float>(curve.size());
  const auto late = static_cast<ptrdiff_t>(count * 0.1F * random.uniform() * random.uniform());
  const auto early = static_cast<ptrdiff_t>(count * 0.1F * random.uniform() * random.uniform());
  curve.erase(curve.end() - early, curve.end());
  curve.erase(curve.begin(), curve.begin() + late);
}

/// Scales to `size` pixels along the longer side and puts the mean of the points at `centre`, moved inwards if ink
/// would reach the border.
void place_glyph(Glyph& glyph, float size, Point centre) {
  Point low{1e9F, 1e9F}, high{-1e9F, -1e9F}, sum;
  float count = 0;
  for (const Stroke& stroke : glyph) {
    for (const Point p : stroke) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)}, high = {std::max(high.x, p.x), std::max(high.y, p.y)};
      sum = sum + p, count += 1;
    }
  }
  const float scale = size / std::max(high.x - low.x, high.y - low.y);
  constexpr float kMargin = 3.3F;  // more than the reach of the widest pen
  Point shift = centre - scale * ((1 / count) * sum);
  shift.x = std::clamp(shift.x, kMargin - scale * low.x, kSize - kMargin - scale * high.x);
  shift.y = std::clamp(shift.y, kMargin - scale * low.y, kSize - kMargin - scale * high.y);
  for (Stroke& stroke : glyph) {
    for (Point& p : stroke) p = shift + scale * p;
  }
}

/// Ink of a round pen of that radius from a to b: a pixel is raised to radius + ½ − distance, within 0…1.
void draw_line(std::array<float, kSize * kSize>& ink, Point a, Point b, float radius) {
  const Point ab = b - a;
  const float length2 = std::max(ab.x * ab.x + ab.y * ab.y, 1e-6F), reach = radius + 0.5F;
  const auto first = [&](float u, float v) { return std::max(0, static_cast<int>(std::min(u, v) - reach)); };
  const auto last = [&](float u, float v) {
    return std::min<int>(kSize - 1, static_cast<int>(std::max(u, v) + reach));
  };
  for (int y = first(a.y, b.y); y <= last(a.y, b.y); ++y) {
    for (int x = first(a.x, b.x); x <= last(a.x, b.x); ++x) {
      const Point p = Point{static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F} - a;
      const float t = std::clamp((p.x * ab.x + p.y * ab.y) / length2, 0.0F, 1.0F);
      const Point off = p - t * ab;
      float& pixel = ink[static_cast<size_t>(y * kSize + x)];
      pixel = std::max(pixel, std::min(1.0F, reach - std::sqrt(off.x * off.x + off.y * off.y)));
    }
  }
}

Image draw(const Glyph& glyph, Random& random) {
  std::array<float, kSize * kSize> ink{};
  const float radius = between(random, 0.75F, 1.75F), pressure = between(random, 0, 0.3F);
  for (const Stroke& curve : glyph) {
    const float phase = between(random, 0, 6), pace = between(random, 0.05F, 0.25F);
    for (size_t i = 0; i + 1 < curve.size(); ++i) {
      const float press = 1 + pressure * std::sin(phase + pace * static_cast<float>(i));
      draw_line(ink, curve[i], curve[i + 1], radius * press);
    }
  }
  Image image(kSize, kSize, 1);
  const float full = between(random, 215, 290);
  for (size_t i = 0; i < ink.size(); ++i) image.pixels[i] = static_cast<uint8_t>(std::min(255.0F, full * ink[i]));
  return image;
}

}  // namespace

LabelledImage digit(uint64_t seed, int64_t index) {
  static const std::array<std::vector<Glyph>, 10> ways = parse_all();
  require(index >= 0, "digit: expected an index of at least 0, got ", index);
  Random random = Random(seed, static_cast<uint64_t>(index)).named("digits");
  const uint64_t label = random.below(ways.size());
  Glyph glyph = ways[label][random.below(ways[label].size())];
  write_by_hand(glyph, random);
  for (Stroke& stroke : glyph) {
    stroke = smooth(stroke);
    trim(stroke, random);
  }
  const float middle = kSize / 2.0F;
  place_glyph(glyph, between(random, 0.85F, 1.05F) * kInkSize,
              {middle + around(random, 1.2F), middle + around(random, 1.2F)});
  return {draw(glyph, random), static_cast<int32_t>(label), "digit " + std::to_string(index)};
}

}  // namespace attend::data
