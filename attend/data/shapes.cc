#include "attend/data/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "attend/base/error.h"
#include "attend/base/random.h"
#include "attend/data/builtin_split.h"

namespace attend::data {
namespace {

constexpr int64_t kSmallest = 48;

struct Colour {
  std::string_view name;
  std::array<int, 3> rgb;
};
constexpr Colour kColours[] = {
    {"red", {214, 40, 40}},     {"green", {44, 160, 60}},   {"blue", {45, 85, 220}},
    {"yellow", {235, 205, 30}}, {"purple", {140, 50, 170}}, {"orange", {245, 130, 20}},
};

/// Whether a point is inside; shapes reach to about ±1, y down.
struct ShapeRow {
  std::string_view name;
  bool (*holds)(float x, float y);
};

bool in_circle(float x, float y) { return x * x + y * y <= 1; }
bool in_square(float x, float y) { return std::max(std::abs(x), std::abs(y)) <= 0.86F; }
bool in_triangle(float x, float y) { return y <= 0.8F && std::abs(x) <= 0.6F * (y + 0.9F); }
bool in_cross(float x, float y) {
  x = std::abs(x), y = std::abs(y);
  return std::min(x, y) <= 0.3F && std::max(x, y) <= 0.95F;
}
bool in_ring(float x, float y) {
  const float r2 = x * x + y * y;
  return r2 <= 1 && r2 >= 0.3F;
}
/// Five points: below the line from a tip (1 at angle 0) to the next notch (0.42 at 36°), folded onto every tenth.
bool in_star(float x, float y) {
  constexpr float kFold = std::numbers::pi_v<float> / 5, kNotch = 0.42F;
  const float r = std::hypot(x, y);
  const float angle = std::abs(std::remainder(std::atan2(x, -y), 2 * kFold));
  const float notch_x = kNotch * std::cos(kFold), notch_y = kNotch * std::sin(kFold);
  const float along = r * std::cos(angle), across = r * std::sin(angle);
  return (along - 1) * notch_y <= across * (notch_x - 1);
}

constexpr ShapeRow kShapes[] = {
    {"circle", in_circle}, {"square", in_square}, {"triangle", in_triangle},
    {"star", in_star},     {"cross", in_cross},   {"ring", in_ring},
};
constexpr int32_t kColourCount = std::size(kColours), kShapeCount = std::size(kShapes);

template <class Rows>
auto names_of(const Rows& rows) {
  std::array<std::string_view, std::extent_v<Rows>> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = rows[i].name;
  return names;
}

// What a relation is called: from the first object to the next, and the other way round. Each has two names.
struct Relation {
  std::string_view forward, backward;
};
constexpr Relation kUpright[] = {{"above", "below"}, {"over", "under"}};
constexpr Relation kBeside[] = {{"left of", "right of"}, {"to the left of", "to the right of"}};
constexpr std::string_view kOpenings[] = {"", "there is", "i see"};

/// Words one after another, with what they describe.
class CaptionText {
 public:
  void say(std::string_view words, int32_t object = -1) {
    if (words.empty()) return;
    if (!caption_.text.empty()) caption_.text += ' ';
    caption_.text += words;
    caption_.speaks_of.insert(caption_.speaks_of.end(), 1 + std::count(words.begin(), words.end(), ' '), object);
  }
  void say_object(const ShapeObject& object, int32_t number) {
    const std::string_view colour = kColours[object.colour].name;
    say(std::string_view("aeiou").find(colour[0]) != std::string_view::npos ? "an" : "a");
    say(colour, number);
    say(kShapes[object.shape].name, number);
  }
  ShapeCaption take() && { return std::move(caption_); }

 private:
  ShapeCaption caption_;
};

/// All objects in order, or from last to first.
ShapeCaption caption_of(const std::vector<ShapeObject>& objects, std::string_view opening, std::string_view relation,
                        bool backward) {
  CaptionText text;
  text.say(opening);
  const auto count = static_cast<int32_t>(objects.size());
  for (int32_t i = 0; i < count; ++i) {
    const int32_t number = backward ? count - 1 - i : i;
    if (i > 0) text.say(relation);
    text.say_object(objects[static_cast<size_t>(number)], number);
  }
  return std::move(text).take();
}

std::vector<ShapeCaption> captions_of(const std::vector<ShapeObject>& objects, bool upright) {
  std::vector<ShapeCaption> captions;
  for (const std::string_view opening : kOpenings) {
    if (objects.size() == 1) {
      captions.push_back(caption_of(objects, opening, "", false));
      continue;
    }
    for (const Relation& relation : upright ? kUpright : kBeside) {
      captions.push_back(caption_of(objects, opening, relation.forward, false));
      captions.push_back(caption_of(objects, opening, relation.backward, true));
    }
  }
  return captions;
}

int32_t draw_index(Random& random, int64_t count) {
  return static_cast<int32_t>(random.below(static_cast<uint64_t>(count)));
}

ShapeObject draw_pair(Random& random, bool from_held_out) {
  for (;;) {
    const ShapeObject object{draw_index(random, kColourCount), draw_index(random, kShapeCount), {}};
    if (held_out(object.colour, object.shape) == from_held_out) return object;
  }
}

/// In the test one object is certainly held out, and the others may be.
std::vector<ShapeObject> draw_objects(Random& random, ShapesPart part, int64_t most) {
  const auto count = static_cast<size_t>(1 + draw_index(random, most));
  const auto certain = static_cast<size_t>(draw_index(random, static_cast<int64_t>(count)));
  std::vector<ShapeObject> objects;
  while (objects.size() < count) {
    const bool test = part == ShapesPart::kTest;
    const bool from_held_out = test && (objects.size() == certain || random.uniform() < 0.2F);
    const ShapeObject object = draw_pair(random, from_held_out);
    const auto same = [&](const ShapeObject& o) { return o.colour == object.colour && o.shape == object.shape; };
    if (std::none_of(objects.begin(), objects.end(), same)) objects.push_back(object);
  }
  return objects;
}

void draw_background(Image& image, Random& random) {
  const std::array<float, 3> level = {between(random, 205, 245), between(random, 205, 245), between(random, 205, 245)};
  for (size_t i = 0; i < image.pixels.size(); i += 3) {
    uint32_t noise = random.bits();
    for (size_t c = 0; c < 3; ++c, noise >>= 8) {
      image.pixels[i + c] = static_cast<uint8_t>(level[c] + static_cast<float>(noise & 15) - 8);
    }
  }
}

struct Placed {
  float x = 0, y = 0, radius = 0, turn = 0;
};

/// How much of a pixel the shape covers, by 4×4 points in it; where those in its corners agree, so do the others.
float coverage(bool (*holds)(float, float), const Placed& at, float cosine, float sine, int64_t x, int64_t y) {
  constexpr int kPoints = 4;
  const auto inside = [&](int i, int j) {
    const float u = (static_cast<float>(x) + (static_cast<float>(i) + 0.5F) / kPoints - at.x) / at.radius;
    const float v = (static_cast<float>(y) + (static_cast<float>(j) + 0.5F) / kPoints - at.y) / at.radius;
    return static_cast<int>(holds(cosine * u + sine * v, cosine * v - sine * u));
  };
  const int corners = inside(0, 0) + inside(kPoints - 1, 0) + inside(0, kPoints - 1) + inside(kPoints - 1, kPoints - 1);
  if (corners % 4 == 0) return static_cast<float>(corners / 4);
  int count = 0;
  for (int i = 0; i < kPoints * kPoints; ++i) count += inside(i % kPoints, i / kPoints);
  return static_cast<float>(count) / (kPoints * kPoints);
}

/// Draws the object and notes its box.
void draw_object(Image& image, ShapeObject& object, const Placed& at, Random& random) {
  std::array<float, 3> rgb{};
  for (size_t c = 0; c < 3; ++c) {
    rgb[c] = std::clamp(static_cast<float>(kColours[object.colour].rgb[c]) + between(random, -14, 14), 0.0F, 255.0F);
  }
  const float reach = 1.3F * at.radius, cosine = std::cos(at.turn), sine = std::sin(at.turn);
  const auto first = [&](float centre) { return std::max<int64_t>(0, static_cast<int64_t>(centre - reach)); };
  const auto last = [&](float centre) { return std::min(image.width - 1, static_cast<int64_t>(centre + reach)); };
  int64_t top = image.height, left = image.width, bottom = -1, right = -1;
  for (int64_t y = first(at.y); y <= last(at.y); ++y) {
    for (int64_t x = first(at.x); x <= last(at.x); ++x) {
      const float covered = coverage(kShapes[object.shape].holds, at, cosine, sine, x, y);
      if (covered == 0) continue;
      top = std::min(top, y), bottom = std::max(bottom, y), left = std::min(left, x), right = std::max(right, x);
      for (int64_t c = 0; c < 3; ++c) {
        uint8_t& pixel = image.at(y, x, c);
        pixel = static_cast<uint8_t>(
            std::lround(static_cast<float>(pixel) * (1 - covered) + rgb[static_cast<size_t>(c)] * covered));
      }
    }
  }
  object.box = {top, left, bottom - top + 1, right - left + 1};
}

/// Place i of n along the axis of the scene: each has its own band, so that no two touch; across it they differ by less
/// than along it, so that only one relation is correct.
Placed place(Random& random, size_t i, size_t n, bool upright, float size, float& lane) {
  const float band = size / static_cast<float>(n);
  const float radius = std::min(between(random, 0.105F, n == 1 ? 0.27F : 0.19F) * size, 0.42F * band);
  const float slack = std::max(0.0F, band / 2 - 1.17F * radius - 1);
  const float along = band * (static_cast<float>(i) + 0.5F) + between(random, -slack, slack);
  const float edge = 1.2F * radius + 1;
  if (i == 0) lane = between(random, edge, size - edge);
  const float across = std::clamp(lane + between(random, -0.12F, 0.12F) * size, edge, size - edge);
  const float turn = between(random, -0.2F, 0.2F);
  return upright ? Placed{across, along, radius, turn} : Placed{along, across, radius, turn};
}

}  // namespace

ShapeScene shape_scene(ShapesPart part, uint64_t seed, int64_t index, const ShapesOptions& options) {
  require(index >= 0, "shapes: expected an index of at least 0, got ", index);
  require(options.size >= kSmallest && options.size <= 1024, "shapes: expected a size of ", kSmallest,
          " to 1024, got ", options.size);
  require(options.most_objects >= 1 && options.most_objects <= 3, "shapes: expected 1 to 3 objects, got ",
          options.most_objects);
  constexpr std::string_view kParts[] = {"shapes: train", "shapes: valid", "shapes: test"};
  Random random = Random(seed, static_cast<uint64_t>(index)).named(kParts[static_cast<size_t>(part)]);
  ShapeScene scene;
  scene.objects = draw_objects(random, part, options.most_objects);
  scene.upright = random.below(2) == 0;
  scene.image = Image(options.size, options.size, 3);
  draw_background(scene.image, random);
  float lane = 0;
  for (size_t i = 0; i < scene.objects.size(); ++i) {
    const Placed at = place(random, i, scene.objects.size(), scene.upright, static_cast<float>(options.size), lane);
    draw_object(scene.image, scene.objects[i], at, random);
  }
  scene.captions = captions_of(scene.objects, scene.upright);
  return scene;
}

std::vector<std::string> references(const ShapeScene& scene) {
  std::vector<std::string> texts;
  for (const ShapeCaption& caption : scene.captions) texts.push_back(caption.text);
  return texts;
}

std::span<const std::string_view> colour_names() {
  static const auto names = names_of(kColours);
  return names;
}

std::span<const std::string_view> shape_names() {
  static const auto names = names_of(kShapes);
  return names;
}

bool held_out(int32_t colour, int32_t shape) {
  require(colour >= 0 && colour < kColourCount && shape >= 0 && shape < kShapeCount,
          "shapes: expected a colour and a shape that there are, got ", colour, " and ", shape);
  // One pair of each colour, and of each shape.
  return shape == (5 * colour + 2) % kShapeCount;
}

}  // namespace attend::data
