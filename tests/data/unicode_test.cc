// Unicode as in Python; whole scores of many scripts are compared with sacreBLEU's in tests/train.
#include "attend/data/unicode.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "attend/base/error.h"

namespace {

using namespace attend::data;

TEST(Unicode, CodePointsOfOneToFourBytes) {
  EXPECT_EQ(code_points("here", "aß€😀"), U"aß€😀");
  EXPECT_EQ(code_points("here", std::string("\0\x7f", 2)), std::u32string(U"\0\x7f", 2));
  EXPECT_EQ(code_points("here", "\xf4\x8f\xbf\xbf"), U"\U0010FFFF");
}

TEST(Unicode, OtherBytesAreRefusedWithTheirPlace) {
  const std::string broken[] = {"\x80",         "\xc3",
                                "\xc3(",        "\xc0\xaf",
                                "\xe0\x80\xaf", "\xed\xa0\x80",
                                "\xe2\x82",     "\xf4\x90\x80\x80",
                                "\xff",         "\xf8\x88\x80\x80\x80"};
  for (const std::string& bytes : broken) {
    try {
      code_points("here", "ab" + bytes);
      ADD_FAILURE() << testing::PrintToString(bytes);
    } catch (const attend::Error& error) {
      EXPECT_STREQ(error.what(), "here: expected UTF-8, got other bytes at byte 2");
    }
  }
}

TEST(Unicode, CategoriesOfManyScripts) {
  for (const char32_t c : U"!-.«।。？\u2014")
    EXPECT_EQ(category(c), c == 0 ? Category::kOther : Category::kPunctuation);
  for (const char32_t c : {U'$', U'+', U'€', U'°', U'→', U'😀'}) EXPECT_EQ(category(c), Category::kSymbol);
  for (const char32_t c : {U'0', U'٣', U'१', U'½', U'Ⅳ', U'３'}) EXPECT_EQ(category(c), Category::kNumber);
  for (const char32_t c : {U'a', U'ß', U'中', U' ', U'\u0301', U'\U0010FFFF'}) EXPECT_EQ(category(c), Category::kOther);
}

TEST(Unicode, LowerCaseHasTheFinalSigmaAndTheDottedI) {
  EXPECT_EQ(lower_case(U"ÄẞǅДΩ\U00010400x1"), U"äßǆдω\U00010428x1");
  EXPECT_EQ(lower_case(U"İ"), U"i\u0307");
  EXPECT_EQ(lower_case(U"ΣΑΣ ΑΣ. ΑΣ'Α Σ"), U"σας ας. ασ'α σ");
  EXPECT_EQ(lower_case(U"ĀāĂă"), U"āāăă");
}

TEST(Unicode, CapitalsBecomeSmallInPlace) {
  EXPECT_EQ(lowercased("HALLO Ärger, ÉCOLE Ÿ Žluť ΑΘΗΝΆ МОСКВА ԱԲ Ệ ẞ İ 猫 Ａ!"),
            "hallo ärger, école ÿ žluť αθηνά москва աբ ệ ẞ İ 猫 ａ!");
  EXPECT_EQ(lowercased("×÷ \xFF A"), "×÷ \xFF a");
  EXPECT_EQ(lowercased("\U00010400 Ა ǅ"), "\U00010428 ა ǆ") << "Deseret, Georgian: as scores have them";
  EXPECT_EQ(lowercased("Ⱥ \u212A"), "Ⱥ \u212A") << "their small letters have other numbers of bytes";
}

TEST(Unicode, LowercasingAgainChangesNothing) {
  const std::vector<CasePair> pairs = case_pairs();
  ASSERT_GT(pairs.size(), 1000u);
  std::set<char32_t> capitals;
  for (const CasePair& pair : pairs) capitals.insert(pair.capital);
  for (const CasePair& pair : pairs) EXPECT_FALSE(capitals.contains(pair.small)) << static_cast<uint32_t>(pair.small);
}

TEST(Unicode, BlanksDivideWords) {
  EXPECT_EQ(split_at_blanks(U" a\u00a0b\u3000\x1c\tc\u200bd "),
            (std::vector<std::u32string_view>{U"a", U"b", U"c\u200bd"}));
  EXPECT_TRUE(split_at_blanks(U" \n").empty());
  EXPECT_EQ(without_trailing_blanks(U" a \u2028"), U" a");
}

}  // namespace
