// Line plots: round ticks, well-formed SVG whatever the names, gaps, and series that differ by more than their colour.
#include "attend/explain/plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tests/support/message.h"
#include "tests/support/text.h"
#include "tests/support/xml.h"

namespace attend::explain {
namespace {

using test::count;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(RoundTicks, CoverTheRangeAtOneTwoOrFive) {
  EXPECT_EQ(round_ticks(0, 100), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(round_ticks(3, 38), (std::vector<double>{0, 10, 20, 30, 40}));
  EXPECT_EQ(round_ticks(-1, 1, 4), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  for (const auto& [low, high] : {std::pair(1.2, 1.3), {0.0, 1e-6}, {-7e5, 3e9}, {5.0, 5.0}, {0.0, 0.0}, {1e9, 1e9}}) {
    const std::vector<double> ticks = round_ticks(low, high);
    ASSERT_GE(ticks.size(), 2u) << low << ' ' << high;
    EXPECT_LE(ticks.size(), 9u) << low << ' ' << high;
    EXPECT_LE(ticks.front(), low);
    EXPECT_GE(ticks.back(), high);
  }
  EXPECT_GE(round_ticks(kNone, std::numeric_limits<double>::infinity()).size(), 2u);
}

TEST(RoundTicks, OfNothingButZeroAreNotBelowIt) { EXPECT_EQ(round_ticks(0, 0).front(), 0); }

TEST(RatioTicks, CoverTheRangeByPowersOrWithinThem) {
  EXPECT_EQ(ratio_ticks(28, 400), (std::vector<double>{20, 50, 100, 200, 500}));
  EXPECT_EQ(ratio_ticks(3e5, 2e9), (std::vector<double>{1e5, 1e6, 1e7, 1e8, 1e9, 1e10}));
  for (const auto& [low, high] :
       {std::pair(1.0, 1.0), {0.19, 0.2}, {1e-7, 3e8}, {10.0, 1000.0}, {kNone, 2.0}, {0.0, 0.0}}) {
    const std::vector<double> ticks = ratio_ticks(low, high);
    ASSERT_GE(ticks.size(), 2u) << low << ' ' << high;
    if (!(low > 0)) continue;
    EXPECT_LE(ticks.front(), low * (1 + 1e-9)) << high;
    EXPECT_GE(ticks.back(), high * (1 - 1e-9)) << low;
  }
}

/// The texts of a plot's ticks, those of y first.
std::vector<std::string> tick_texts(const std::string& svg) {
  std::vector<std::string> all;
  const std::string begin = "<text class=\"ap-q\" x=";
  for (size_t at = 0; (at = svg.find(begin, at)) != std::string::npos; ++at) {
    const size_t from = svg.find('>', at) + 1;
    all.push_back(svg.substr(from, svg.find('<', from) - from));
  }
  return all;
}

TEST(Plot, RatiosAreEquallyFarApartOnAxesOfRatios) {
  const std::string svg = svg_plot({.title = "",
                                    .x_label = "x",
                                    .y_label = "y",
                                    .series = {{"a", {10, 40, 160, 200}, {1e4, 1e7, 1e10, 0}}},
                                    .log_x = true,
                                    .log_y = true});
  const size_t at = svg.rfind("d=\"M");  // before it, that of the legend
  ASSERT_NE(at, svg.npos);
  double x[3], y[3];
  ASSERT_EQ(std::sscanf(svg.c_str() + at, "d=\"M%lf %lfL%lf %lfL%lf %lf\"", x, y, x + 1, y + 1, x + 2, y + 2), 6)
      << svg;
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.02);
  EXPECT_NEAR(y[1] - y[0], y[2] - y[1], 0.02);
  EXPECT_LT(y[2], y[0]);
  EXPECT_EQ(count(svg, "<title>a: "), 3u) << "0 has no place among ratios";
  EXPECT_TRUE(test::has(svg, ">10⁴<")) << svg;
}

TEST(Plot, AnAxisStaysWithinWhatItsValuesCanBe) {
  for (const double value : {0.0, 50.0, 100.0}) {
    const std::string svg = svg_plot({.title = "",
                                      .x_label = "x",
                                      .y_label = "y",
                                      .series = {{"a", {0, 1}, {value, value}}},
                                      .categories = {"few", "many"},
                                      .bounds = {{0, 100}}});
    std::vector<double> ticks;
    for (const std::string& text : tick_texts(svg)) {
      if (text != "few" && text != "many" && text != "x" && text != "y") ticks.push_back(std::stod(text));
    }
    ASSERT_GE(ticks.size(), 2u) << svg;
    EXPECT_GE(ticks.front(), 0) << value;
    EXPECT_LE(ticks.back(), 100) << value;
    EXPECT_GE(ticks.back() - ticks.front(), 10) << value;
  }
}

TEST(Plot, OnePlaceAloneStandsBesideItsName) {
  const std::string svg = svg_plot({"", "step", "y", {{"a", {20}, {3}}}, {}, {}});
  EXPECT_EQ(count(svg, "stroke-dasharray=\"1 3\""), 0u) << "no line leads from it to its name: " << svg;
  EXPECT_NE(svg.find(">20</text>"), std::string::npos) << svg;
}

TEST(Plot, WhatLeadsToANameDoesNotLookLikeData) {
  const std::string svg = svg_plot({"", "", "", {{"a", {1, 2}, {3, 4}}, {"b", {1, 9}, {1, 2}}}, {}, {}});
  const size_t leader = svg.find("<g stroke-dasharray=\"1 3\"><line class=\"ap-a\"");
  EXPECT_NE(leader, std::string::npos) << svg;
  EXPECT_EQ(count(svg, "<g class=\"ap-s0\""), 2u) << "its line and its legend, nothing else: " << svg;
}

/// Seven lines that end at the lowest value: their names stand above each other, none below the axis.
TEST(Plot, NamesStayBesideThePanel) {
  Plot plot{"", "", "", {}, {}, {}};
  for (int i = 0; i < 7; ++i) plot.series.push_back({"line " + std::to_string(i), {0, 1}, {1, 0}});
  const std::string svg = svg_plot(plot);
  const auto y_of = [&](const std::string& end) {
    const size_t at = svg.rfind("y=\"", svg.rfind(end));
    return std::stod(svg.substr(at + 3));
  };
  double lowest = 0;
  for (const Series& one : plot.series) {
    EXPECT_EQ(count(svg, ">" + one.name + "</text>"), 2u) << "in the legend and at its end: " << svg;
    lowest = std::max(lowest, y_of(">" + one.name + "</text>"));
  }
  EXPECT_LE(lowest, y_of(">0.0</text>") + 1) << "the tick at the axis: " << svg;
}

TEST(Plot, IsWellFormedWhateverTheNames) {
  const Plot plot{
      "a <b> & \"c\"", "x & y", "'z'", {{"<s> & \"t\"", {1, 2, 3}, {4, 5, 6}}, {"größe", {1, 2}, {kNone, 5}}}, {}};
  const std::string svg = svg_plot(plot);
  EXPECT_EQ(test::xml_complaint(svg), "") << svg;
  EXPECT_NE(svg.find("a &lt;b&gt; &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_NE(svg.find("größe"), std::string::npos);
  EXPECT_NE(svg.find("prefers-color-scheme"), std::string::npos) << "readable on a dark page";
  EXPECT_EQ(test::xml_complaint(svg_mark(11)), "");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(Plot, WithoutAnythingItIsStillAPicture) {
  for (const Plot& plot :
       {Plot{}, Plot{"none", "", "", {{"a", {}, {}}}, {}}, Plot{"none", "", "", {{"a", {1}, {kNone}}}, {"x"}}}) {
    const std::string svg = svg_plot(plot);
    EXPECT_EQ(test::xml_complaint(svg), "") << svg;
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
  }
}

TEST(Plot, AGapBreaksTheLine) {
  const std::string whole = svg_plot({"", "", "", {{"a", {0, 1, 2, 3, 4}, {1, 2, 3, 4, 5}}}, {}});
  const std::string broken = svg_plot({"", "", "", {{"a", {0, 1, 2, 3, 4}, {1, 2, kNone, 4, 5}}}, {}});
  const auto path = [](const std::string& svg) {
    const size_t begin = svg.find("round\" d=\"") + 10;
    return svg.substr(begin, svg.find('"', begin) - begin);
  };
  EXPECT_EQ(count(path(whole), "M"), 1u) << path(whole);
  EXPECT_EQ(count(path(broken), "M"), 2u) << path(broken);
  EXPECT_EQ(count(path(broken), "L"), 2u) << path(broken);
}

TEST(Plot, SeriesDifferInDashOrMarkerNotOnlyInColour) {
  std::set<std::string> looks;
  for (size_t i = 0; i < 16; ++i) {
    std::string mark = svg_mark(i);
    const size_t colour = mark.find("ap-s");
    looks.insert(mark.erase(colour, mark.find('"', colour) - colour));
  }
  EXPECT_EQ(looks.size(), 16u);
}

TEST(Plot, NamesAtTheEndsDoNotTouch) {
  Plot plot{"", "", "", {}, {"a", "b"}};
  for (int i = 0; i < 12; ++i) plot.series.push_back({"series " + std::to_string(i), {0, 1}, {0.0, 50 + 0.01 * i}});
  plot.series.push_back({"below", {0, 1}, {0, 10}});
  const std::string svg = svg_plot(plot);
  const std::string picture = svg.substr(svg.find("rotate(-90"));
  std::vector<double> heights;
  for (size_t at = 0; (at = picture.find("<text class=\"ap-t\"", at)) != std::string::npos; ++at) {
    heights.push_back(std::stod(picture.substr(picture.find("y=\"", at) + 3)));
  }
  ASSERT_GE(heights.size(), 2u) << "some have room";
  EXPECT_LT(heights.size(), 13u) << "not all of them have";
  std::ranges::sort(heights);
  for (size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 12) << i;
}

TEST(Plot, ASeriesLooksTheSameInEveryPlot) {
  const std::vector<std::string> names{"a", "b"};
  const Plot plot{"", "", "", {{"b", {0, 1}, {1, 2}}}, {}};
  const std::string svg = svg_plots(std::span(&plot, 1), names);
  EXPECT_EQ(count(svg, "class=\"ap-s1\""), 2u) << "its line, and in the legend";
  EXPECT_EQ(count(svg, "class=\"ap-s0\""), 1u) << "the other one in the legend alone";
}

TEST(Plot, AsManyXsAsYsAreWanted) {
  EXPECT_EQ(test::message_of([] {
              svg_plot({"", "", "", {{"a", {1}, {1, 2}}}, {}});
            }),
            "svg_plot: expected as many xs as ys in a, got 1 and 2");
}

}  // namespace
}  // namespace attend::explain
