// Heat maps for a terminal: shades, labels, and columns that stand where they should whatever the script.
#include "attend/explain/heatmap.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "attend/data/display_width.h"
#include "attend/explain/colours.h"
#include "tests/support/message.h"
#include "tests/support/text.h"
#include "tests/support/xml.h"

namespace attend::explain {
namespace {

using test::count;

TEST(DisplayWidth, OfWhatATerminalShows) {
  EXPECT_EQ(data::display_width(""), 0u);
  EXPECT_EQ(data::display_width("going"), 5u);
  EXPECT_EQ(data::display_width("größe"), 5u);
  EXPECT_EQ(data::display_width("дом"), 3u);
  EXPECT_EQ(data::display_width("漢字"), 4u);
  EXPECT_EQ(data::display_width("かな"), 4u);
  EXPECT_EQ(data::display_width("한글"), 4u);
  EXPECT_EQ(data::display_width("Ａ１"), 4u) << "full-width letters";
  EXPECT_EQ(data::display_width("🙂"), 2u);
  EXPECT_EQ(data::display_width("e\u0301"), 1u) << "a combining acute";
  EXPECT_EQ(data::display_width("a\u200db"), 2u) << "a joiner";
  EXPECT_EQ(data::display_width("x\u20d7"), 1u) << "an arrow above";
  EXPECT_EQ(data::display_width("ש\u05c1\u05b8"), 1u) << "Hebrew points";
  EXPECT_EQ(data::display_width("م\u064e"), 1u) << "an Arabic vowel";
  EXPECT_EQ(data::display_width("कि"), 1u + 1u) << "a vowel sign that takes room";
  EXPECT_EQ(data::display_width("क\u094d"), 1u) << "a virama";
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
            "text_heatmap: expected weights [1,2], got [2, 1]");
  EXPECT_NE(test::message_of([&] { text_heatmap(Tensor::zeros({2}), one, two); }), "");
}

Grid small_grid() { return {Tensor::of({2, 3}, {0.0, 0.1, 0.95, 0.25, 0.45, 0.7}), {"a", "word"}, {"x", "yy", "z"}}; }

TEST(TextHeatmap, TrueColourHasTheNumberInTheCell) {
  Grid grid = small_grid();
  grid.look.most = 1;
  const std::string text = text_heatmap(grid, {.ink = Ink::true_colour});
  EXPECT_NE(text.find("\x1b[48;2;"), text.npos);
  EXPECT_NE(text.find("m 95\x1b[0m"), text.npos) << text;
  EXPECT_NE(text.find("m   \x1b[0m"), text.npos) << "nothing for 0";
  EXPECT_EQ(text_heatmap(grid, {}).find('\x1b'), text.npos);
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b')
      at = text.find('m', at);
    else
      plain += text[at];
  }
  EXPECT_EQ(plain,
            "       │   │   z\n"
            "       │   yy\n"
            "       x\n"
            "     a      10  95\n"
            "  word  25  45  70\n");
}

TEST(TextHeatmap, WhatIsWiderThanTheTerminalComesInBlocks) {
  const Grid grid = small_grid();
  EXPECT_EQ(text_heatmap(grid, {.width = 13}),
            "       │  yy\n"
            "       x\n"
            "     a\n"
            "  word ░░ ▒▒\n"  // of the largest, 0.95
            "\n"
            "       z\n"
            "     a ██\n"
            "  word ▓▓\n");
  const std::vector<std::string> labels(40, "Donaudampfschifffahrt");
  const Grid wide{Tensor::zeros({40, 40}), labels, labels};
  for (const size_t width : {20, 40, 80}) {
    const std::string text = text_heatmap(wide, {.width = width});
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      EXPECT_LE(data::display_width(text.substr(at, end - at)), width);
      at = end + 1;
    }
  }
  EXPECT_NE(text_heatmap(grid, {.width = 1}), "") << "a column at least";
}

TEST(TextHeatmap, ChoicesWindowsAndSigns) {
  Grid grid{Tensor::of({2, 3}, {0, 1, 0, 0, 0, 1}), {"a", "b"}, {"x", "y", "z"}};
  grid.look.hard = true;
  EXPECT_TRUE(text_heatmap(grid, {}).ends_with("  a    ●\n  b       ●\n")) << text_heatmap(grid, {});
  grid.look = {};
  grid.look.windows = {RowWindow{1, 0, 1}, RowWindow{2, 1, 2}};
  EXPECT_TRUE(text_heatmap(grid, {}).ends_with("  a[   ██]\n  b   [   ██]\n")) << text_heatmap(grid, {});
  grid = {Tensor::of({1, 3}, {-1, 0.5, 0}), {"a"}, {"x", "y", "z"}, {.is_signed = true}};
  EXPECT_TRUE(text_heatmap(grid, {}).ends_with("  a -█ ▒▒\n")) << text_heatmap(grid, {});
}

TEST(TextLegend, SaysWhatAShadeMeans) {
  const auto legend = [](std::initializer_list<real> values, HeatmapOptions look, Ink ink = Ink::shades) {
    const Grid grid{Tensor::of({1, 2}, values), {"a"}, {"x", "y"}, std::move(look), ""};
    return text_legend(grid, {.ink = ink});
  };
  EXPECT_EQ(legend({0.5, 0.1}, {}), "░░ from 10 %  ▒▒ from 20 %  ▓▓ from 30 %  ██ from 40 %  to 50 %\n");
  EXPECT_EQ(legend({0.5, 0.1}, {}, Ink::true_colour), "numbers are per cent; the darkest is 50 %\n");
  EXPECT_EQ(legend({-4, 2}, {.is_signed = true}),
            "░░ from +0.8  ▒▒ from +1.6  ▓▓ from +2.4  ██ from +3.2  to +4; with a minus: against the word\n");
  EXPECT_EQ(legend({1, 0}, {.hard = true}), "● the choice\n");
}

TEST(Strongest, OfSignedNumbersIsTheLargestForOrAgainst) {
  const auto of = [](bool is_signed) {
    return strongest(
        {Tensor::of({3, 2}, {-4, 2, 0.5, 1, 0, 0}), {"a", "b", "c"}, {"x", "y"}, {.is_signed = is_signed}, ""});
  };
  using Places = std::vector<std::optional<size_t>>;
  EXPECT_EQ(of(true), (Places{0, 1, std::nullopt}));
  EXPECT_EQ(of(false), (Places{1, 1, std::nullopt}));
}

TEST(TextHeatmap, LabelsFromRightToLeftDoNotTurnTheNumbersAround) {
  const Grid grid{Tensor::of({1, 1}, {1}), {"שלום"}, {"x"}};
  EXPECT_EQ(text_heatmap(grid, {}), "       x\n  שלום\u200E ██\n");
}

/// The colours of the cells, in order.
std::vector<std::string> fills(const std::string& svg) {
  std::vector<std::string> found;
  for (size_t at = svg.find("<rect x"); at != svg.npos; at = svg.find("<rect x", at + 1)) {
    const size_t fill = svg.find("fill=\"", at) + 6;
    if (svg.substr(fill, 1) == "#") found.push_back(svg.substr(fill, 7));
  }
  return found;
}

Colour parsed(const std::string& hex) {
  const auto part = [&](size_t at) { return std::stoi(hex.substr(at, 2), nullptr, 16); };
  return {part(1), part(3), part(5)};
}

TEST(SvgHeatmap, CellsAreTheDarkerTheMore) {
  const Tensor weights = Tensor::of({1, 4}, {0.1, 0.9, 0.4, 0.0});
  const std::vector<std::string> rows{"r"}, columns{"a", "b", "c", "d"};
  const auto colours = fills(svg_heatmap(weights, rows, columns));
  ASSERT_EQ(colours.size(), 4u);
  const auto dark = [&](size_t i) { return -luminance(parsed(colours[i])); };
  EXPECT_GT(dark(1), dark(2));
  EXPECT_GT(dark(2), dark(0));
  EXPECT_GT(dark(0), dark(3));
}

TEST(SvgHeatmap, IsXmlWhateverTheTokensAre) {
  const Tensor weights = Tensor::full({2, 3}, 0.5);
  const std::vector<std::string> rows{"<&\"'>", "\xff\x02"}, columns{"</svg>", "שלום", std::string(300, 'W')};
  const std::string svg = svg_heatmap(weights, rows, columns);
  EXPECT_EQ(test::xml_complaint(svg), "");
  EXPECT_NE(svg.find("&lt;&amp;&quot;"), svg.npos);
  EXPECT_NE(svg.find("…<title>WWW"), svg.npos) << "shortened, and whole in the tooltip";
  EXPECT_EQ(test::xml_complaint(svg_heatmap(Tensor::zeros({0, 0}), {}, {})), "");
  EXPECT_EQ(test::xml_complaint(svg_heatmap(Tensor::zeros({300, 300}), std::vector<std::string>(300, "r"),
                                            std::vector<std::string>(300, "c"))),
            "");
}

TEST(SvgHeatmap, TheValueIsATooltip) {
  const std::vector<std::string> rows{"ghar"}, columns{"home", "שלום"};
  const std::string svg = svg_heatmap(Tensor::of({1, 2}, {0.93, 0.002}), rows, columns);
  EXPECT_NE(svg.find("<title>ghar ← home 93 %</title>"), svg.npos);
  EXPECT_NE(svg.find("<title>ghar ← \u2068שלום\u2069 &lt; 1 %</title>"), svg.npos);
  const std::string sides =
      svg_heatmap(Tensor::of({1, 2}, {-0.31, 2.5}), rows, columns, HeatmapOptions{.is_signed = true});
  EXPECT_NE(sides.find("home −0.31<"), sides.npos);
  EXPECT_NE(sides.find(" +2.5<"), sides.npos);
}

TEST(SvgHeatmap, ChoicesAreDots) {
  const std::vector<std::string> rows{"a", "b"}, columns{"x", "y"};
  const Tensor weights = Tensor::of({2, 2}, {0, 1, 1, 0});
  const std::string svg = svg_heatmap(weights, rows, columns, {.hard = true});
  EXPECT_EQ(count(svg, "<circle class=\"choice\""), 2u);
  EXPECT_EQ(count(svg_heatmap(weights, rows, columns), "<circle"), 0u);
  EXPECT_EQ(count(svg_heatmap(weights, rows, columns), "class=\"most\""), 2u);
}

TEST(SvgHeatmap, WindowsAreOutlinesWithTheirCentre) {
  const std::vector<std::string> rows{"a", "b"}, columns{"x", "y", "z"};
  HeatmapOptions look;
  look.windows = {RowWindow{0.5, 0, 1}, std::nullopt};
  const std::string svg = svg_heatmap(Tensor::zeros({2, 3}), rows, columns, look);
  EXPECT_EQ(count(svg, "class=\"window\""), 1u);
  EXPECT_EQ(count(svg, "class=\"centre\""), 1u);
  look.windows[0] = RowWindow{0, 0, 3};
  EXPECT_EQ(test::message_of([&] {
              svg_heatmap(Tensor::zeros({2, 3}), rows, columns, look);
            }),
            "svg_heatmap: expected windows within 3 columns");
  look.windows.pop_back();
  EXPECT_NE(test::message_of([&] { svg_heatmap(Tensor::zeros({2, 3}), rows, columns, look); }), "");
}

}  // namespace
}  // namespace attend::explain
