// Labels: widths, what is shortened, what XML can hold; and the colours.
#include "attend/explain/labels.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "attend/explain/colours.h"

namespace attend::explain {
namespace {

TEST(Shortened, EndsInDotsWhereSomethingIsCut) {
  EXPECT_EQ(shortened("going", 5), "going");
  EXPECT_EQ(shortened("going", 4), "goi…");
  EXPECT_EQ(shortened("漢字かな", 5), "漢字…");
  EXPECT_EQ(shortened("e\u0301te\u0301s", 3), "e\u0301t…") << "a mark stays with its letter";
  EXPECT_EQ(shortened("abc", 0), "…");
  EXPECT_EQ(shortened("", 3), "");
  for (const char* text : {"Donaudampfschifffahrt", "漢字かな漢字かな", "mmmmmmmmmmmm", "مرحبا بالعالم"}) {
    EXPECT_LE(display_width(shortened(text, 7)), 7u) << text;
    EXPECT_LE(text_width(shortened_picture(text, 4)), 4) << text;
    EXPECT_EQ(shortened_picture(text, 100), text);
  }
}

TEST(Wrapped, BetweenWords) {
  EXPECT_EQ(wrapped("one two three", 100, 3), std::vector<std::string>{"one two three"});
  EXPECT_EQ(wrapped("one two three", text_width("one two"), 3), (std::vector<std::string>{"one two", "three"}));
  const auto cut = wrapped("one two three four", text_width("one two"), 1);
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_TRUE(cut[0].ends_with("…")) << cut[0];
  EXPECT_TRUE(wrapped(" ", 10, 3).empty());
}

TEST(XmlEscaped, WhatXmlCannotHold) {
  EXPECT_EQ(xml_escaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
  EXPECT_EQ(xml_escaped("gr\xc3"), "gr\uFFFD") << "a piece of a letter";
  EXPECT_EQ(xml_escaped("a\x01\x1b"), "a\uFFFD\uFFFD");
  EXPECT_EQ(xml_escaped("漢▁"), "漢▁");
}

TEST(RightToLeft, OfLettersThatAre) {
  EXPECT_TRUE(right_to_left("שלום"));
  EXPECT_TRUE(right_to_left("a مرحبا"));
  EXPECT_FALSE(right_to_left("home ▁漢字"));
  EXPECT_EQ(isolated("home"), "home");
  EXPECT_EQ(isolated("שלום"), "\u2068שלום\u2069");
}

TEST(Colours, GetDarkerWithTheWeight) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_GT(luminance(sequential(i / 100.0)), luminance(sequential((i + 1) / 100.0))) << i;
    EXPECT_GT(luminance(diverging(i / 100.0)), luminance(diverging((i + 1) / 100.0))) << i;
    EXPECT_GT(luminance(diverging(-i / 100.0)), luminance(diverging(-(i + 1) / 100.0))) << i;
  }
  EXPECT_GT(diverging(1).blue, diverging(1).red);
  EXPECT_GT(diverging(-1).red, diverging(-1).blue);
}

TEST(Colours, OfWhatIsNone) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sequential(none), sequential(0));
  EXPECT_EQ(diverging(none), diverging(0));
  EXPECT_EQ(sequential(7), sequential(1));
  EXPECT_EQ(sequential(-1), sequential(0));
  EXPECT_EQ(hex({16, 63, 133}), "#103f85");
}

TEST(Colours, TextOnThemCanBeRead) {
  for (int i = 0; i <= 100; ++i) {
    for (const Colour& ground : {sequential(i / 100.0), diverging(i / 50.0 - 1)}) {
      const double a = luminance(ground) + 0.05, b = luminance(ink_on(ground)) + 0.05;
      EXPECT_GE(std::max(a, b) / std::min(a, b), 4.5) << i;
    }
  }
}

}  // namespace
}  // namespace attend::explain
