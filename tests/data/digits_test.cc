#include "attend/data/digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "attend/base/error.h"

namespace attend::data {
namespace {

constexpr int64_t kMany = 2000;

double ink_of(const Image& image) {
  double sum = 0;
  for (const uint8_t value : image.pixels) sum += value;
  return sum / 255;
}

TEST(Digits, AreAFunctionOfSeedAndIndex) {
  for (const int64_t index : {int64_t{0}, int64_t{7}, int64_t{1} << 40}) {
    EXPECT_EQ(digit(3, index).image.pixels, digit(3, index).image.pixels);
    EXPECT_NE(digit(3, index).image.pixels, digit(4, index).image.pixels);
    EXPECT_NE(digit(3, index).image.pixels, digit(3, index + 1).image.pixels);
  }
  EXPECT_THROW(digit(3, -1), Error);
}

TEST(Digits, AreNeverTheSameTwice) {
  std::set<std::vector<uint8_t>> seen;
  for (int64_t i = 0; i < kMany; ++i) EXPECT_TRUE(seen.insert(digit(1, i).image.pixels).second) << i;
}

TEST(Digits, HaveAllLabelsAboutAsOften) {
  std::array<int, 10> counts{};
  for (int64_t i = 0; i < kMany; ++i) ++counts.at(static_cast<size_t>(digit(1, i).label));
  for (const int count : counts) EXPECT_NEAR(count, kMany / 10, 60);
}

TEST(Digits, LieInTheMiddleWithAnEmptyBorder) {
  double ink = 0;
  for (int64_t i = 0; i < kMany; ++i) {
    const Image image = digit(1, i).image;
    ASSERT_EQ(image.height, 28);
    ASSERT_EQ(image.width, 28);
    double x = 0, y = 0;
    const double sum = ink_of(image);
    for (int64_t r = 0; r < 28; ++r) {
      for (int64_t c = 0; c < 28; ++c) {
        const double value = image.at(r, c) / 255.0;
        x += value * static_cast<double>(c) / sum, y += value * static_cast<double>(r) / sum;
        const bool border = std::min({r, c, 27 - r, 27 - c}) == 0;
        ASSERT_TRUE(!border || value == 0) << i << " at " << r << ", " << c;
      }
    }
    EXPECT_LT(std::hypot(x - 13.5, y - 13.5), 5) << i;
    EXPECT_GT(sum, 15) << i;
    EXPECT_GT(*std::max_element(image.pixels.begin(), image.pixels.end()), 150) << i;
    ink += sum / kMany;
  }
  EXPECT_GT(ink, 50);  // MNIST has 103
  EXPECT_LT(ink, 150);
}

/// Marks the black pixels that can be reached from one, and counts them.
int64_t fill(std::array<bool, 784>& black, int64_t y, int64_t x) {
  if (y < 0 || x < 0 || y >= 28 || x >= 28 || !black[static_cast<size_t>(28 * y + x)]) return 0;
  black[static_cast<size_t>(28 * y + x)] = false;
  return 1 + fill(black, y + 1, x) + fill(black, y - 1, x) + fill(black, y, x + 1) + fill(black, y, x - 1);
}

/// The rows in which holes begin: parts of the ground that do not reach the border.
std::vector<int64_t> holes_of(const Image& image) {
  std::array<bool, 784> black{};
  for (size_t i = 0; i < black.size(); ++i) black[i] = image.pixels[i] < 80;
  fill(black, 0, 0);
  std::vector<int64_t> rows;
  for (int64_t y = 0; y < 28; ++y) {
    for (int64_t x = 0; x < 28; ++x) {
      if (fill(black, y, x) > 1) rows.push_back(y);
    }
  }
  return rows;
}

// Whatever the hand: 0, 6 and 9 have one hole (9 high up, 6 low down), 8 has two, 1, 2, 3, 5 and 7 mostly have none.
TEST(Digits, HaveTheHolesOfTheirLabels) {
  std::array<double, 10> count{}, holes{}, height{};
  for (int64_t i = 0; i < kMany; ++i) {
    const LabelledImage image = digit(1, i);
    const auto label = static_cast<size_t>(image.label);
    const std::vector<int64_t> rows = holes_of(image.image);
    count[label] += 1, holes[label] += static_cast<double>(rows.size());
    for (const int64_t row : rows) height[label] += static_cast<double>(row);
  }
  for (const size_t one : {0u, 6u, 9u}) EXPECT_NEAR(holes[one] / count[one], 0.85, 0.25) << one;
  for (const size_t none : {1u, 3u, 5u, 7u}) EXPECT_LT(holes[none] / count[none], 0.2) << none;
  EXPECT_LT(holes[2] / count[2], 0.4);
  EXPECT_GT(holes[8] / count[8], 1.4);
  EXPECT_GT(height[6] / holes[6], height[9] / holes[9] + 5);
}

// A digit looks like its label: the mean images of other digits tell most of them.
TEST(Digits, LookLikeTheirLabels) {
  std::array<std::vector<double>, 10> means;
  for (auto& mean : means) mean.assign(784, 0);
  const auto add = [&](const LabelledImage& image) {
    const double norm = ink_of(image.image);
    for (size_t k = 0; k < 784; ++k) means[static_cast<size_t>(image.label)][k] += image.image.pixels[k] / norm;
  };
  for (int64_t i = 0; i < kMany; ++i) add(digit(1, i));
  for (auto& mean : means) {
    double norm = 0;
    for (const double value : mean) norm += value * value;
    for (double& value : mean) value /= std::sqrt(norm);
  }
  int right = 0;
  for (int64_t i = 0; i < kMany; ++i) {
    const LabelledImage image = digit(2, i);
    std::array<double, 10> scores{};
    for (size_t d = 0; d < 10; ++d) {
      for (size_t k = 0; k < 784; ++k) scores[d] += means[d][k] * image.image.pixels[k];
    }
    right += std::max_element(scores.begin(), scores.end()) - scores.begin() == image.label;
  }
  EXPECT_GT(right, kMany * 6 / 10);
  EXPECT_LT(right, kMany * 95 / 100) << "too alike to be worth learning";
}

}  // namespace
}  // namespace attend::data
