// Heat maps for a terminal: shades, labels, and columns that stand where they should whatever the script.
#include "attend/explain/heatmap.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/support/message.h"

namespace attend::explain {
namespace {

TEST(DisplayWidth, OfWhatATerminalShows) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("going"), 5u);
  EXPECT_EQ(display_width("größe"), 5u);
  EXPECT_EQ(display_width("дом"), 3u);
  EXPECT_EQ(display_width("漢字"), 4u);
  EXPECT_EQ(display_width("かな"), 4u);
  EXPECT_EQ(display_width("한글"), 4u);
  EXPECT_EQ(display_width("Ａ１"), 4u) << "full-width letters";
  EXPECT_EQ(display_width("🙂"), 2u);
  EXPECT_EQ(display_width("e\u0301"), 1u) << "a combining acute";
  EXPECT_EQ(display_width("a\u200db"), 2u) << "a joiner";
  EXPECT_EQ(display_width("x\u20d7"), 1u) << "an arrow above";
  EXPECT_EQ(display_width("ש\u05c1\u05b8"), 1u) << "Hebrew points";
  EXPECT_EQ(display_width("م\u064e"), 1u) << "an Arabic vowel";
  EXPECT_EQ(display_width("कि"), 1u + 1u) << "a vowel sign that takes room";
  EXPECT_EQ(display_width("क\u094d"), 1u) << "a virama";
}

TEST(TextHeatmap, ShadesUnderLabels) {
  const Tensor weights = Tensor::of({2, 3}, {0.0, 0.1, 0.95, 0.25, 0.45, 0.7});
  const std::vector<std::string> rows{"a", "word"}, columns{"x", "yy", "z"};
  EXPECT_EQ(text_heatmap(weights, rows, columns),
            "       │  │  z\n"
            "       │  yy\n"
            "       x\n"
            "     a       ██\n"
            "  word ░░ ▒▒ ▓▓\n");
}

TEST(TextHeatmap, WideAndCombinedLabelsKeepTheColumnsInPlace) {
  const Tensor weights = Tensor::of({3, 1}, {1, 1, 1});
  const std::vector<std::string> rows{"漢字", "e\u0301te\u0301", "home"}, columns{"x"};
  EXPECT_EQ(text_heatmap(weights, rows, columns),
            "       x\n"
            "  漢字 ██\n"
            "   e\u0301te\u0301 ██\n"
            "  home ██\n");
}

TEST(TextHeatmap, WeightsThatAreNoneAreShownAsNearAsCanBe) {
  using Limits = std::numeric_limits<real>;
  const Tensor weights = Tensor::of({1, 5}, {-1, Limits::quiet_NaN(), 2, Limits::infinity(), 1});
  const std::vector<std::string> rows{"a"}, columns{"1", "2", "3", "4", "5"};
  EXPECT_TRUE(text_heatmap(weights, rows, columns).ends_with("  a       ██ ██ ██\n"));
}

TEST(TextHeatmap, LabelsThatDoNotFitAreRefused) {
  const std::vector<std::string> one{"a"}, two{"a", "b"};
  EXPECT_EQ(text_heatmap(Tensor::zeros({0, 0}), {}, {}), "");
  EXPECT_EQ(test::message_of([&] {
              text_heatmap(Tensor::zeros({2, 1}), one, two);
            }),
            "text_heatmap: weights [1,2] are wanted, got [2, 1]");
  EXPECT_NE(test::message_of([&] { text_heatmap(Tensor::zeros({2}), one, two); }), "");
}

}  // namespace
}  // namespace attend::explain
