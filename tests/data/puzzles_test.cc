// Puzzles: what their labels say can be found in their pixels.
#include "attend/data/puzzles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "attend/data/image_set.h"

namespace attend::data {
namespace {

/// How many patches of ink there are that do not touch.
int64_t patches_of_ink(const Image& image) {
  std::set<std::pair<int64_t, int64_t>> left;
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      if (image.at(y, x) > 60) left.insert({y, x});
    }
  }
  int64_t count = 0;
  for (; !left.empty(); ++count) {
    std::vector<std::pair<int64_t, int64_t>> open{*left.begin()};
    left.erase(left.begin());
    while (!open.empty()) {
      const auto [y, x] = open.back();
      open.pop_back();
      for (const auto& next : {std::pair{y - 1, x}, {y + 1, x}, {y, x - 1}, {y, x + 1}}) {
        if (left.erase(next) > 0) open.push_back(next);
      }
    }
  }
  return count;
}

TEST(Dots, AreAsManyAsTheLabelSays) {
  std::set<int32_t> labels;
  for (int64_t i = 0; i < 100; ++i) {
    const LabelledImage one = dots(3, i);
    EXPECT_EQ(patches_of_ink(one.image), one.label + 1) << i;
    labels.insert(one.label);
  }
  EXPECT_EQ(labels.size(), 5u);
}

/// Twice the angle in which the ink of a quarter lies, from its second moments.
double twice_the_angle(const Image& image, int64_t place) {
  const int64_t half = kPuzzleSide / 2, top = place / 2 * half, left = place % 2 * half;
  double sum = 0, mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  for (int64_t y = top; y < top + half; ++y) {
    for (int64_t x = left; x < left + half; ++x) {
      const double ink = image.at(y, x), dx = static_cast<double>(x), dy = static_cast<double>(y);
      sum += ink, mx += ink * dx, my += ink * dy, xx += ink * dx * dx, yy += ink * dy * dy, xy += ink * dx * dy;
    }
  }
  return std::atan2(2 * (xy - mx * my / sum), (xx - mx * mx / sum) - (yy - my * my / sum));
}

TEST(OddOne, LiesAcrossTheThreeOthers) {
  for (int64_t i = 0; i < 100; ++i) {
    const LabelledImage one = odd_one(7, i);
    for (int64_t place = 0; place < kOddPlaces; ++place) {
      const double turned = std::cos(twice_the_angle(one.image, place) - twice_the_angle(one.image, one.label));
      if (place != one.label) {
        EXPECT_LT(turned, -0.4) << i;
      }
    }
  }
}

TEST(Puzzles, ArePureFunctionsAndDifferBetweenParts) {
  EXPECT_EQ(odd_one(1, 5).image.pixels, odd_one(1, 5).image.pixels);
  EXPECT_NE(odd_one(1, 5).image.pixels, odd_one(1, 6).image.pixels);
  const ImageCorpus corpus = make_image_corpus("dots", 1);
  EXPECT_NE(corpus.train->at(0).image.pixels, corpus.test->at(0).image.pixels);
  EXPECT_EQ(corpus.valid->labels().size(), 5u);
}

}  // namespace
}  // namespace attend::data
