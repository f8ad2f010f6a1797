#include "attend/data/shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "attend/base/error.h"
#include "tests/support/text.h"

namespace attend::data {
namespace {

using test::words_of;

constexpr ShapesPart kParts[] = {ShapesPart::kTrain, ShapesPart::kValid, ShapesPart::kTest};

bool has_held_out(const ShapeScene& scene) {
  return std::any_of(scene.objects.begin(), scene.objects.end(),
                     [](const ShapeObject& o) { return held_out(o.colour, o.shape); });
}

TEST(Shapes, AreAFunctionOfPartSeedAndIndex) {
  const ShapeScene scene = shape_scene(ShapesPart::kTrain, 1, 7), again = shape_scene(ShapesPart::kTrain, 1, 7);
  EXPECT_EQ(scene.image.pixels, again.image.pixels);
  EXPECT_EQ(references(scene), references(again));
  EXPECT_NE(scene.image.pixels, shape_scene(ShapesPart::kTrain, 1, 8).image.pixels);
  EXPECT_NE(scene.image.pixels, shape_scene(ShapesPart::kTrain, 2, 7).image.pixels);
  EXPECT_NE(scene.image.pixels, shape_scene(ShapesPart::kValid, 1, 7).image.pixels);
}

TEST(Shapes, HoldOutOnePairOfEachColourAndShape) {
  std::set<int32_t> colours, shapes;
  int pairs = 0;
  for (int32_t colour = 0; colour < 6; ++colour) {
    for (int32_t shape = 0; shape < 6; ++shape) {
      if (!held_out(colour, shape)) continue;
      colours.insert(colour), shapes.insert(shape), ++pairs;
    }
  }
  EXPECT_EQ(pairs, 6);
  EXPECT_EQ(colours.size(), 6u);
  EXPECT_EQ(shapes.size(), 6u);
  EXPECT_THROW(held_out(6, 0), Error);
}

TEST(Shapes, OfHeldOutPairsAreInEveryTestAndInNoOtherPart) {
  std::set<std::pair<int32_t, int32_t>> seen[3];
  for (const ShapesPart part : kParts) {
    for (int64_t i = 0; i < 400; ++i) {
      const ShapeScene scene = shape_scene(part, 1, i, {.size = 48});
      EXPECT_EQ(has_held_out(scene), part == ShapesPart::kTest);
      for (const ShapeObject& o : scene.objects) seen[static_cast<int>(part)].insert({o.colour, o.shape});
    }
  }
  EXPECT_EQ(seen[0].size(), 30u);
  EXPECT_EQ(seen[2].size(), 36u) << "beside the held-out ones, others too";
}

TEST(Shapes, LieApartAndInTheirOrderWithOneRelationBetweenThem) {
  for (int64_t i = 0; i < 300; ++i) {
    const int64_t size = i % 2 == 0 ? 64 : 150;
    const ShapeScene scene = shape_scene(ShapesPart::kTrain, 3, i, {.size = size, .most_objects = 3});
    for (size_t k = 0; k < scene.objects.size(); ++k) {
      const Box& box = scene.objects[k].box;
      EXPECT_TRUE(box.top >= 0 && box.left >= 0 && box.top + box.height <= size && box.left + box.width <= size);
      EXPECT_GE(std::min(box.height, box.width), 8) << i;
      if (k == 0) continue;
      const Box& before = scene.objects[k - 1].box;
      const int64_t gap = scene.upright ? box.top - before.top - before.height : box.left - before.left - before.width;
      EXPECT_GE(gap, 0) << i;
      const double dy = static_cast<double>(2 * (box.top - before.top) + box.height - before.height);
      const double dx = static_cast<double>(2 * (box.left - before.left) + box.width - before.width);
      EXPECT_LT(scene.upright ? std::abs(dx) : std::abs(dy), scene.upright ? dy : dx) << i;
    }
  }
}

TEST(Shapes, AreDrawnInTheirBoxesInTheirColours) {
  // Which channel is strongest, which weakest.
  constexpr int kStrongest[] = {0, 1, 2, 0, 2, 0}, kWeakest[] = {-1, -1, 0, 2, 1, 2};
  for (int64_t i = 0; i < 100; ++i) {
    const ShapeScene scene = shape_scene(ShapesPart::kTest, 1, i);
    for (const ShapeObject& o : scene.objects) {
      // The pixel of the box that differs most from the light ground.
      std::array<int, 3> darkest = {255, 255, 255};
      for (int64_t y = o.box.top; y < o.box.top + o.box.height; ++y) {
        for (int64_t x = o.box.left; x < o.box.left + o.box.width; ++x) {
          const std::array<int, 3> rgb = {scene.image.at(y, x, 0), scene.image.at(y, x, 1), scene.image.at(y, x, 2)};
          if (*std::min_element(rgb.begin(), rgb.end()) < *std::min_element(darkest.begin(), darkest.end()))
            darkest = rgb;
        }
      }
      const auto at = [&](int channel) { return darkest[static_cast<size_t>(channel)]; };
      EXPECT_EQ(at(kStrongest[o.colour]), *std::max_element(darkest.begin(), darkest.end())) << i;
      if (kWeakest[o.colour] >= 0) {
        EXPECT_EQ(at(kWeakest[o.colour]), *std::min_element(darkest.begin(), darkest.end())) << i;
      }
      EXPECT_LT(*std::min_element(darkest.begin(), darkest.end()), 80) << i;
    }
  }
}

// Reads a caption as a person would, and finds what it says in the scene.
void expect_true_of(const ShapeCaption& caption, const ShapeScene& scene) {
  const std::vector<std::string> words = words_of(caption.text);
  ASSERT_EQ(words.size(), caption.speaks_of.size());
  std::vector<int32_t> order;
  for (size_t w = 0; w < words.size(); ++w) {
    const auto colour = std::find(colour_names().begin(), colour_names().end(), words[w]);
    const auto shape = std::find(shape_names().begin(), shape_names().end(), words[w]);
    const int32_t object = caption.speaks_of[w];
    ASSERT_EQ(object >= 0, colour != colour_names().end() || shape != shape_names().end()) << caption.text;
    if (object < 0) continue;
    const ShapeObject& o = scene.objects.at(static_cast<size_t>(object));
    if (colour != colour_names().end()) {
      EXPECT_EQ(o.colour, colour - colour_names().begin()) << caption.text;
      EXPECT_EQ(words.at(w - 1), words[w] == "orange" ? "an" : "a");
      order.push_back(object);
    } else {
      EXPECT_EQ(o.shape, shape - shape_names().begin()) << caption.text;
      EXPECT_EQ(caption.speaks_of.at(w - 1), object);
    }
  }
  EXPECT_EQ(order.size(), scene.objects.size()) << caption.text;
  const auto says = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  EXPECT_EQ(says("above") || says("over") || says("below") || says("under"), scene.upright && order.size() > 1);
  EXPECT_EQ(says("left") || says("right"), !scene.upright && order.size() > 1);
  const bool backward = says("below") || says("under") || says("right");
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return backward ? a > b : a < b;
  })) << caption.text;
}

TEST(Shapes, AreTrueToAllTheirCaptions) {
  std::set<size_t> counts;
  std::set<std::string> first;
  for (int64_t i = 0; i < 200; ++i) {
    const ShapeScene scene = shape_scene(ShapesPart::kTest, 2, i, {.size = 48, .most_objects = 3});
    counts.insert(scene.objects.size());
    const std::vector<std::string> texts = references(scene);
    EXPECT_EQ(texts.size(), scene.objects.size() == 1 ? 3u : 12u);
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
    for (const ShapeCaption& caption : scene.captions) expect_true_of(caption, scene);
    first.insert(texts[0]);
  }
  EXPECT_EQ(counts, (std::set<size_t>{1, 2, 3}));
  EXPECT_GT(first.size(), 120u) << "scenes differ; only those of one object may be alike";
}

TEST(Shapes, RefuseOtherOptions) {
  EXPECT_THROW(shape_scene(ShapesPart::kTrain, 1, -1), Error);
  EXPECT_THROW(shape_scene(ShapesPart::kTrain, 1, 0, {.size = 20}), Error);
  EXPECT_THROW(shape_scene(ShapesPart::kTrain, 1, 0, {.most_objects = 4}), Error);
}

}  // namespace
}  // namespace attend::data
