#include "attend/explain/animation.h"

#include <gtest/gtest.h>

#include <vector>

#include "attend/base/error.h"
#include "tests/support/text.h"
#include "tests/support/xml.h"

namespace attend::explain {
namespace {

using test::has;
using test::xml_complaint;

TEST(Animation, ShowsOnePictureAfterTheOther) {
  const std::vector<Fragment> frames{{"<rect id=\"a\"/>", 30, 10},
                                     {"<rect id=\"b\"/>", 20, 40},
                                     {"<rect id=\"c\"/>", 1, 1},
                                     {"<rect id=\"d\"/>", 1, 1}};
  const Fragment all = animated(frames, 1.5, "film");
  EXPECT_EQ(all.width, 30);
  EXPECT_EQ(all.height, 40);
  const std::string svg = svg_document(all, 0);
  EXPECT_EQ(xml_complaint(svg), "");
  EXPECT_TRUE(has(svg, ".film>g{visibility:hidden;animation:film 6s step-end infinite}")) << svg;
  EXPECT_TRUE(has(svg, "25%{visibility:hidden}")) << "a quarter of the time each: " << svg;
  EXPECT_TRUE(has(svg, "<g style=\"animation-delay:0s\">\n<rect id=\"a\"/>"))
      << "the first is seen where nothing moves: " << svg;
  EXPECT_TRUE(has(svg, "<g visibility=\"hidden\" style=\"animation-delay:4.5s\">\n<rect id=\"d\"/>")) << svg;
  EXPECT_TRUE(has(svg, "prefers-reduced-motion")) << svg;
}

TEST(Animation, NeedsPicturesAndTime) {
  EXPECT_THROW(animated({}, 1, "film"), Error);
  EXPECT_THROW(animated(std::vector<Fragment>(2), 0, "film"), Error);
}

TEST(Fragments, StandBesideEachOther) {
  const Fragment row = beside({{"<a/>", 10, 5}, {}, {"<b/>", 20, 8}}, 4);
  EXPECT_EQ(row.width, 34);
  EXPECT_EQ(row.height, 8);
  EXPECT_TRUE(has(row.svg, "<g transform=\"translate(14 0)\">\n<b/>")) << row.svg;
}

}  // namespace
}  // namespace attend::explain
