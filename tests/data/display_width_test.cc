#include "attend/data/display_width.h"

#include <gtest/gtest.h>

namespace attend::data {
namespace {

TEST(DisplayWidth, MarksTakeNoneAndWideSignsTwoColumns) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("größe"), 5u);
  EXPECT_EQ(display_width("m̂"), 1u);
  EXPECT_EQ(display_width("漢字"), 4u);
  EXPECT_EQ(display_width("क\u094d"), 1u) << "a virama";
  EXPECT_EQ(display_width("a\xFF\xC3"), 3u) << "bytes that are not UTF-8";
}

TEST(DisplayWidth, ABeginningKeepsItsCharactersWhole) {
  EXPECT_EQ(bytes_within("größe", 3), 4u);
  EXPECT_EQ(bytes_within("größe", 9), 7u);
  EXPECT_EQ(bytes_within("漢字", 3), 3u);
  EXPECT_EQ(bytes_within("m̂x", 1), 3u) << "a mark stays with its letter";
  EXPECT_EQ(bytes_within("", 3), 0u);
}

}  // namespace
}  // namespace attend::data
