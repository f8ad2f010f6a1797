#include "attend/base/names.h"

#include <gtest/gtest.h>

#include <iomanip>
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

// std::quoted would be the better match for a std::string.
TEST(Names, UnknownTextIsQuotedWhateverHoldsIt) {
  std::string text = "a\tb";
  const std::string& same = text;
  EXPECT_EQ(quoted(std::string_view(text)), "\"a\\x09b\"");
  EXPECT_EQ(quoted(text), "\"a\\x09b\"");
  EXPECT_EQ(quoted(same), "\"a\\x09b\"");
  EXPECT_EQ(quoted("a\tb"), "\"a\\x09b\"");
  text.assign(100, 'x');
  EXPECT_EQ(quoted(text), "\"" + std::string(80, 'x') + "…\"");
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
    EXPECT_STREQ(error.what(),
                 "score: expected one of dot, additive, general, got \"aditive\"; the nearest is \"additive\"");
  }
}

}  // namespace
}  // namespace attend
