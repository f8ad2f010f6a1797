#include "attend/data/digit_scenes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/message.h"

namespace attend::data {
namespace {

/// Digit i is i + 1 everywhere, so that a pixel shows which one it is from.
std::shared_ptr<const LabelledImages> plain_digits(int64_t count, int64_t size = 4) {
  auto digits = std::make_shared<LabelledImages>();
  for (int64_t i = 0; i < count; ++i) {
    LabelledImage digit{Image(size, size, 1), static_cast<int32_t>(i % 10)};
    std::fill(digit.image.pixels.begin(), digit.image.pixels.end(), static_cast<uint8_t>(i + 1));
    digits->push_back(std::move(digit));
  }
  return digits;
}

int64_t pixels_of(const Image& image, uint8_t value) {
  return std::count(image.pixels.begin(), image.pixels.end(), value);
}

TEST(DigitScenes, ShowEachDigitOnceAnEpochWhereTheyPutIt) {
  const DigitScenes scenes(plain_digits(5), {.size = 10}, 1);
  std::set<std::pair<int64_t, int64_t>> places;
  for (int64_t i = 0; i < 1000; ++i) {
    const LabelledImage scene = scenes.at(i);
    ASSERT_EQ(scene.label, i % 5);
    const Box box = scene.box;
    ASSERT_TRUE(box.height == 4 && box.width == 4 && box.top >= 0 && box.left >= 0 && box.top <= 6 && box.left <= 6);
    places.insert({box.top, box.left});
    const auto value = static_cast<uint8_t>(i % 5 + 1);
    EXPECT_EQ(scene.image.at(box.top, box.left), value);
    EXPECT_EQ(scene.image.at(box.top + 3, box.left + 3), value);
    EXPECT_EQ(pixels_of(scene.image, value), 16);
    EXPECT_EQ(pixels_of(scene.image, 0), 84);
  }
  EXPECT_EQ(places.size(), 49u) << "every place there is";
}

TEST(DigitScenes, AddPiecesOfOtherDigitsOnly) {
  const DigitScenes scenes(plain_digits(100), {.size = 60, .pieces = 4, .piece = 3}, 1);
  std::set<uint8_t> from;
  for (int64_t i = 0; i < 120; ++i) {
    const LabelledImage scene = scenes.at(i);
    int64_t pieces = 0;
    for (int value = 1; value <= 100; ++value) {
      const int64_t pixels = pixels_of(scene.image, static_cast<uint8_t>(value));
      if (value == i % 100 + 1) {
        EXPECT_LE(pixels, 16) << "of the digit itself there is no piece";
      } else if (pixels > 0) {
        pieces += (pixels + 8) / 9;
        from.insert(static_cast<uint8_t>(value));
      }
    }
    EXPECT_LE(pieces, 4);
    EXPECT_GE(pieces, 1);
  }
  EXPECT_GT(from.size(), 90u);
}

TEST(DigitScenes, AreAFunctionOfSeedAndIndex) {
  const auto digits = plain_digits(7);
  const SceneOptions options{.size = 20, .pieces = 2, .piece = 2};
  const DigitScenes scenes(digits, options, 1), again(digits, options, 1), other(digits, options, 2);
  int same = 0;
  for (int64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(scenes.at(i).image.pixels, again.at(i).image.pixels);
    same += scenes.at(i).image.pixels == other.at(i).image.pixels;
    same += scenes.at(i).image.pixels == scenes.at(i + 7).image.pixels;
  }
  EXPECT_LT(same, 5);
}

TEST(DigitScenes, AreTheSameInATensor) {
  const DigitScenes scenes(plain_digits(200), {.size = 16, .pieces = 3, .piece = 2}, 5);
  Tensor row = Tensor::full({16, 16}, real(9));
  const DigitScenes::Drawn drawn = scenes.draw(3, row.values());
  const LabelledImage scene = scenes.at(3);
  EXPECT_EQ(drawn.label, scene.label);
  EXPECT_EQ(drawn.digit, scene.box);
  const Tensor expected = to_tensor(std::span(&scene.image, 1));
  for (size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row.data()[i], expected.data()[i]);
}

TEST(DigitScenes, RefuseWhatDoesNotFit) {
  const auto refusal = [](std::shared_ptr<const LabelledImages> digits, SceneOptions options) {
    return test::message_of([&] { DigitScenes(std::move(digits), options, 1); });
  };
  EXPECT_EQ(refusal(plain_digits(2), {.size = 3}),
            "digit scenes: expected a size of at least that of a digit, 4×4, got 3");
  EXPECT_NE(refusal(plain_digits(2), {.size = 9, .pieces = 1, .piece = 5}), "");
  EXPECT_NE(refusal(plain_digits(1), {.size = 9, .pieces = 1, .piece = 2}), "");
  EXPECT_NE(refusal(plain_digits(0), {}), "");
  auto mixed = std::make_shared<LabelledImages>(*plain_digits(2));
  (*mixed)[1].image = Image(4, 5, 1);
  EXPECT_NE(refusal(mixed, {}), "");
  const DigitScenes scenes(plain_digits(2), {.size = 9}, 1);
  std::vector<uint8_t> small(80);
  EXPECT_NE(test::message_of([&] { scenes.draw(0, small); }), "");
  EXPECT_NE(test::message_of([&] { scenes.at(-1); }), "");
}

}  // namespace
}  // namespace attend::data
