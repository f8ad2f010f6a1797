// Pictures of what a network saw of an image: SVG, GIF, the page that is one file, and text.
#include "attend/explain/image_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "attend/data/display_width.h"
#include "attend/explain/image_text.h"
#include "attend/explain/page.h"
#include "attend/explain/png.h"
#include "attend/explain/raster.h"
#include "tests/support/looks.h"
#include "tests/support/message.h"
#include "tests/support/text.h"
#include "tests/support/xml.h"

namespace attend::explain {
namespace {

using test::count;
using test::lines_of;

std::vector<ImageLook> all_looks() {
  return {test::caption_look(), test::hard_caption_look(), test::glimpse_look(), test::saliency_look(),
          test::cam_look()};
}

TEST(ImagePicture, IsXmlThatLoadsNothing) {
  for (ImageLook look : all_looks()) {
    look.name = "<&\"'>.png";
    if (auto* caption = std::get_if<CaptionLook>(&look.seen)) caption->words[1] = "</svg>\xff";
    const std::string svg = svg_picture(look);
    EXPECT_EQ(test::xml_complaint(svg), "");
    EXPECT_EQ(count(svg, "href=\""), count(svg, "href=\"data:image/png;base64,"));
    EXPECT_EQ(test::xml_complaint(svg_step(look, 0)), "");
  }
}

TEST(ImagePicture, ACaptionHasATilePerWord) {
  const std::string svg = svg_picture(test::caption_look());
  EXPECT_EQ(count(svg, "class=\"veil\""), 7u);
  EXPECT_EQ(count(svg, "class=\"choice\""), 0u);
  EXPECT_NE(svg.find(">circle<"), svg.npos);
  EXPECT_NE(svg.find(">a red circle above a blue square<"), svg.npos);
  EXPECT_NE(svg.find(">98 %<"), svg.npos) << "the probability of red, exp(-0.02)";
  EXPECT_NE(svg.find("<title>red: upper left, "), svg.npos);
  EXPECT_NE(svg.find("the blue square is below a red circle"), svg.npos) << "what people said";
}

/// Names of masks, as they are given.
std::set<std::string> mask_names(const std::string& svg) {
  std::set<std::string> names;
  for (size_t at = svg.find("id=\""); at != svg.npos; at = svg.find("id=\"", at + 1)) {
    names.insert(svg.substr(at + 4, svg.find('"', at + 4) - at - 4));
  }
  return names;
}

TEST(ImagePicture, VeilsOfSeveralPicturesHaveNamesOfTheirOwn) {
  const std::string soft = svg_picture(test::caption_look()), hard = svg_picture(test::hard_caption_look());
  EXPECT_EQ(mask_names(soft).size(), 7u);
  std::set<std::string> both = mask_names(soft);
  both.merge(mask_names(hard));
  EXPECT_EQ(both.size(), 14u);
  for (const std::string& name : mask_names(hard)) EXPECT_EQ(count(hard, "url(#" + name + ")"), 1u);
}

TEST(ImagePicture, AHardChoiceIsAFrame) {
  const std::string svg = svg_picture(test::hard_caption_look());
  EXPECT_EQ(count(svg, "class=\"choice\""), 2u * 7u) << "with a dark edge each";
  EXPECT_NE(svg.find("x=\"41\" y=\"41\" width=\"18\" height=\"18\" class=\"choice\""), svg.npos)
      << "cell 18 of 8 × 8 at 160";
}

TEST(ImagePicture, GlimpsesHaveDotsArrowsAndSquares) {
  const std::string svg = svg_picture(test::glimpse_look());
  EXPECT_EQ(count(svg, "class=\"glance\""), 2u * 6u) << "on the path, and above each glance";
  EXPECT_EQ(count(svg, "class=\"arrow\""), 2u * 5u) << "with a dark edge each";
  EXPECT_EQ(count(svg, "class=\"patch\""), 6u * (2u + 1u + 1u)) << "the smallest with a dark edge";
  EXPECT_EQ(count(svg, "<image"), 1u + 6u * 3u);
  EXPECT_NE(svg.find(">7 (97 %)<"), svg.npos);
  EXPECT_EQ(svg.find("wrong"), svg.npos);
  EXPECT_NE(svg.find("cx=\"160\" cy=\"160\""), svg.npos) << "(30, 30) of 60 pixels, at 320";
}

TEST(ImagePicture, TilesAreADistributionAndAFrameWhereOneWasDrawn) {
  const std::string drawn = svg_picture(test::tiles_look(true)), shared = svg_picture(test::tiles_look(false));
  for (const std::string& svg : {drawn, shared}) {
    EXPECT_EQ(test::xml_complaint(svg), "");
    EXPECT_EQ(count(svg, "class=\"veil\""), 3u) << "one for each glance";
    EXPECT_EQ(count(svg, "class=\"patch\""), 0u) << "no square, which may never have been read";
    EXPECT_EQ(count(svg, "class=\"arrow\""), 0u);
  }
  EXPECT_EQ(count(drawn, "class=\"choice\""), 2u * 3u) << "with a dark edge each";
  EXPECT_EQ(count(shared, "class=\"choice\""), 0u);
  EXPECT_NE(drawn.find("read one tile, of 60 %"), std::string::npos);
  EXPECT_NE(shared.find("read all tiles, one up to 60 %"), std::string::npos);
  const std::string step = svg_step(test::tiles_look(true), 2);  // 320 for 60 pixels, the tile from 50 on
  EXPECT_NE(step.find("x=\"267.67\" y=\"267.67\" width=\"51.33\""), std::string::npos) << "as far as the image goes";
}

TEST(TileShares, AreOfTheLikeliestTileThatEachPixelLiesIn) {
  const std::vector<double> tiles{0.1, 0.2, 0.3, 0.4};
  const Tensor shares = tile_shares(tiles, 2, 2, data::Image(3, 3, 1), 3, 3);
  const std::vector<double> expected{0.25, 0.25, 0.5, 0.25, 0.25, 0.5, 0.75, 0.75, 1};
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(shares.data()[i], expected[i], 1e-6) << i;
}

TEST(ImagePicture, LargeScalesAreThinner) {
  const std::string svg = svg_step(test::glimpse_look(), 0);
  std::vector<double> widths;
  for (size_t at = svg.find("class=\"patch\""); at != svg.npos; at = svg.find("class=\"patch\"", at + 1)) {
    const size_t stroke = svg.find("stroke-width=\"", at) + 14;
    if (svg.substr(at, stroke - at).find("#ffb000") != std::string::npos)
      widths.push_back(std::stod(svg.substr(stroke)));
  }
  ASSERT_EQ(widths.size(), 3u);
  EXPECT_LT(widths[0], widths[1]);
  EXPECT_LT(widths[1], widths[2]) << "the smallest square is drawn last";
}

TEST(ImagePicture, AMapSaysWhatIsWrong) {
  const std::string svg = svg_picture(test::saliency_look());
  EXPECT_NE(svg.find(">7 (93 %)<"), svg.npos);
  EXPECT_NE(svg.find(">wrong: it is 1<"), svg.npos);
  EXPECT_NE(svg.find(">gradient in the pixels<"), svg.npos);
  EXPECT_EQ(count(svg, "class=\"veil\""), 1u);
  EXPECT_EQ(svg_picture(test::cam_look()).find("wrong"), svg.npos);
}

TEST(ImagePicture, StepsThatAreNotThereAreRefused) {
  EXPECT_EQ(test::message_of([] { svg_step(test::glimpse_look(), 6); }), "picture: expected a step below 6, got 6");
  ImageLook look = test::caption_look();
  std::get<CaptionLook>(look.seen).words.clear();
  EXPECT_NE(test::message_of([&] { svg_picture(look); }), "");
}

TEST(ImagePicture, AnyShapeOfImage) {
  for (const auto& [height, width] : {std::pair{1, 1}, std::pair{3, 900}, std::pair{700, 2}}) {
    ImageLook look = test::cam_look();
    look.image = data::Image(height, width, 1);
    look.seen = SaliencyLook{Tensor::full({1, 1}, 1), "gradcam", "", "x", "", {}};
    EXPECT_EQ(test::xml_complaint(svg_picture(look)), "");
    EXPECT_NE(text_picture(look, {Ink::true_colour, 80}), "");
    EXPECT_NE(text_picture(look, {Ink::shades, 80}), "");
  }
}

TEST(ImageGif, HasAFramePerStep) {
  if (!can_write_png()) GTEST_SKIP() << "librsvg is not installed";
  const auto frames = [](const ImageLook& look) { return count(gif_picture(look), std::string("\x21\xf9\x04", 3)); };
  EXPECT_EQ(frames(test::caption_look()), 7u);
  EXPECT_EQ(frames(test::glimpse_look()), 6u);
  EXPECT_EQ(frames(test::cam_look()), 2u) << "the image and the map over it";
}

TEST(DrawnSvg, HasThePixelsOnWhite) {
  if (!can_write_png()) GTEST_SKIP() << "librsvg is not installed";
  const data::Image image = drawn_svg(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"2\">"
      "<rect width=\"2\" height=\"2\" fill=\"#102030\"/></svg>",
      2);
  ASSERT_EQ(image.width, 8);
  ASSERT_EQ(image.height, 4);
  EXPECT_EQ(image.at(1, 1, 0), 0x10);
  EXPECT_EQ(image.at(1, 1, 1), 0x20);
  EXPECT_EQ(image.at(1, 1, 2), 0x30);
  EXPECT_EQ(image.at(1, 6, 0), 255);
}

TEST(DrawnSvg, TheVeilIsWhereNothingWasLookedAt) {
  if (!can_write_png()) GTEST_SKIP() << "librsvg is not installed";
  const data::Image image = drawn_svg(svg_step(test::hard_caption_look(), 1), 1);  // cell (2, 2) of 8 × 8 at 320
  const auto at = [&](int64_t y, int64_t x, int64_t c) { return static_cast<int>(image.at(10 + y, 10 + x, c)); };
  EXPECT_EQ(at(90, 90, 0), 214) << "red, as it is in the image";
  EXPECT_NEAR(at(80, 60, 0), 0.2 * 214 + 0.8 * 70, 2) << "red under the veil";
  EXPECT_NEAR(at(80, 60, 2), 0.2 * 49 + 0.8 * 150, 2);
}

TEST(ImagePage, LoadsNothing) {
  const std::string page = html_picture(all_looks());
  for (const char* load : {"https:", "src=", "href=", "\nimport ", "url(", "@import", "import(", "fetch("}) {
    EXPECT_EQ(page.find(load), page.npos) << load;
  }
  EXPECT_EQ(count(page, "http:"), count(page, "http://www.w3.org/2000/svg"));
  EXPECT_NE(page.find("<title>5 images</title>"), page.npos);
  EXPECT_NE(html_picture(std::vector{test::caption_look()}).find("<title>a red circle above a blue square</title>"),
            page.npos);
  for (const char* part : {"{style}", "{script}", "{traces}", "{title}"}) EXPECT_EQ(page.find(part), page.npos);
}

TEST(ImagePage, NoWordCanEndTheScript) {
  ImageLook look = test::caption_look();
  std::get<CaptionLook>(look.seen).words[0] = "</script><b>";
  const std::string page = html_picture(std::vector{look});
  EXPECT_EQ(count(page, "</script>"), 3u) << "those of the page alone";
  EXPECT_EQ(test::message_of([] { html_picture(std::span<const ImageLook>()); }),
            "picture: expected an image, got none");
}

/// Without what sets colours.
std::string plain(const std::string& text) {
  std::string kept;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      kept += text[at];
    }
  }
  return kept;
}

TEST(ImageText, NoLineIsWiderThanTheTerminal) {
  for (const ImageLook& look : all_looks()) {
    for (const Ink ink : {Ink::shades, Ink::true_colour}) {
      for (const size_t width : {10, 40, 80, 200}) {
        const std::string text = text_picture(look, {ink, width});
        for (const std::string& line : lines_of(plain(text))) EXPECT_LE(data::display_width(line), width) << line;
        EXPECT_EQ(text.find('\x1b') != text.npos, ink == Ink::true_colour);
      }
    }
  }
}

/// Where a sign is first seen, in columns.
size_t column_of(const std::string& line, const std::string& sign) {
  const size_t at = line.find(sign);
  return at == line.npos ? at : data::display_width(line.substr(0, at));
}

TEST(ImageText, TilesOfWordsInRows) {
  const auto lines =
      lines_of(text_picture(test::hard_caption_look(), {Ink::shades, 80}));  // tiles of 24 × 12, three per row
  ASSERT_EQ(lines.size(), 3u * 13u + 2u);
  EXPECT_EQ(lines[12], "           a                        red                      circle");
  // "red" chose cell (2, 2) of 8 × 8: columns 6 to 8 and, of 12 lines, the fourth.
  EXPECT_EQ(column_of(lines[3], "█"), 24u + 2u + 6u);
}

TEST(ImageText, ColoursAreThoseOfTheImage) {
  ImageLook look = test::cam_look();
  look.image = data::Image(2, 1, 3);
  look.image.pixels = {1, 2, 3, 200, 100, 50};
  look.seen = SaliencyLook{Tensor::full({1, 1}, 1), "gradcam", "", "x", "", {}};
  const std::string text = text_picture(look, {Ink::true_colour, 1});
  EXPECT_TRUE(text.starts_with("\x1b[38;2;")) << text;
}

TEST(ImageText, TilesAreATileOfTheTerminalForEachGlance) {
  const std::string drawn = text_picture(test::tiles_look(true), {Ink::shades, 90});
  EXPECT_NE(drawn.find("glance 3"), std::string::npos) << drawn;
  EXPECT_NE(drawn.find("1  at ("), std::string::npos) << drawn;
  EXPECT_NE(text_picture(test::tiles_look(false), {Ink::true_colour, 90}).find("2  all tiles"), std::string::npos);
}

TEST(ImageText, GlancesStandWhereTheyLooked) {
  const std::string text = text_picture(test::glimpse_look(), {Ink::shades, 80});  // 48 × 24 signs
  const auto lines = lines_of(text);
  EXPECT_EQ(column_of(lines[12], "1"), 24u) << "(30, 30) of 60";
  EXPECT_EQ(column_of(lines[7], "2"), 35u) << "(44, 18)";
  EXPECT_EQ(column_of(lines[20], "6"), 7u) << "(9, 52)";
  EXPECT_NE(text.find("2  at (44, 18)      7 (35 %)"), text.npos) << text;
  EXPECT_NE(text_picture(test::glimpse_look(), {Ink::true_colour, 80}).find("38;2;0;0;0m1\x1b[0m"), text.npos);
}

}  // namespace
}  // namespace attend::explain
