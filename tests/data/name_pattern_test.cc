#include "attend/data/name_pattern.h"

#include <gtest/gtest.h>

#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;

TEST(NamePattern, TakesNamesApart) {
  const auto digit = NamePattern("{label}_{group}_{number}").match("7_jackson_32");
  ASSERT_TRUE(digit);
  EXPECT_EQ(digit->label, "7");
  EXPECT_EQ(digit->group, "jackson");
  EXPECT_EQ(digit->number, 32);
  const auto read = NamePattern("{group}-{}-{}").match("1272-128104-0001");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->group, "1272");
  EXPECT_EQ(read->label, "");
  EXPECT_EQ(read->number, -1);
  EXPECT_EQ(NamePattern("{}-{group}-{}").match("an251-fash-b")->group, "fash");
  EXPECT_EQ(NamePattern("the {label}!").match("the a-b!")->label, "a-b");
  EXPECT_EQ(NamePattern("{label}-x").match("a-xy-x")->label, "a-xy") << "the last part reaches to the end";
  EXPECT_EQ(NamePattern("{label}-{}").match("a-b-c")->label, "a")
      << "the others to where the text behind them first stands";
  EXPECT_EQ(NamePattern("{number}").match("007")->number, 7);
}

TEST(NamePattern, KnowsNamesOfOtherKinds) {
  const NamePattern pattern("{label}_{group}_{number}");
  for (const char* name : {"", "7", "7_jackson", "7_jackson_", "_jackson_3", "7__3", "7_jackson_x", "7_jackson_3b",
                           "7_jackson_-3", "7_jackson_99999999999999999999"}) {
    EXPECT_FALSE(pattern.match(name)) << name;
  }
  EXPECT_FALSE(NamePattern("a{label}").match("b"));
  EXPECT_FALSE(NamePattern("{label}z").match("b"));
}

TEST(NamePattern, RefusesWhatIsNone) {
  const auto refusal = [](const char* text) { return message_of([&] { NamePattern{text}; }); };
  EXPECT_EQ(refusal("{label}"), "");
  EXPECT_TRUE(says(refusal(""),
                   "pattern: expected a pattern such as {label}_{group}_{number}, with {} for what does not "
                   "matter, got \"\", which has no part"));
  EXPECT_TRUE(says(refusal("{speaker}"), "with the unknown part \"speaker\""));
  EXPECT_TRUE(says(refusal("{label}{group}"), "which has nothing between two parts"));
  EXPECT_TRUE(says(refusal("{label"), "a brace of which is not closed"));
  EXPECT_TRUE(says(refusal("{label}_{label}"), "which has \"label\" twice"));
}

}  // namespace
}  // namespace attend::data
