#include "attend/base/names.h"

#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

TEST(Names, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2u);
  EXPECT_EQ(edit_distance("Adam", "adaM"), 0u);
}

struct Row {
  std::string_view name;
  int value;
};
constexpr Row kRows[] = {{"dot", 1}, {"additive", 2}, {"general", 3}};

TEST(Names, ARowIsFound) { EXPECT_EQ(row_named("score", kRows, "additive").value, 2); }

TEST(Names, AnUnknownNameIsRefusedWithTheNearest) {
  try {
    row_named("score", kRows, "aditive");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "score: wanted one of dot, additive, general, got \"aditive\"; the nearest is \"additive\"");
  }
}

}  // namespace
}  // namespace attend
