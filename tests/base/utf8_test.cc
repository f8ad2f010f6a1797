#include "attend/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

TEST(Utf8, CharactersOfOneToFourBytes) {
  const std::pair<std::string, char32_t> all[] = {{"a", U'a'}, {"ß", U'ß'}, {"€", U'€'}, {"😀", U'😀'}};
  for (const auto& [text, code] : all) {
    EXPECT_EQ(character_bytes(text + "x"), text.size());
    EXPECT_EQ(code_point(text), code);
    EXPECT_EQ(character_bytes(text.substr(0, text.size() - 1) + (text.size() > 1 ? "x" : "a")),
              text.size() > 1 ? 0 : 1);
  }
}

TEST(Utf8, TheFirstFaultIsFoundBehindAsciiToo) {
  for (const char* bad : {"\x80", "\xC3", "\xC0\xAF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    EXPECT_EQ(first_fault(std::string("0123456789é") + bad + "z"), 12u);
    EXPECT_FALSE(is_utf8(bad));
  }
  EXPECT_TRUE(is_utf8("0123456789é 猫"));
  EXPECT_TRUE(is_utf8(""));
}

}  // namespace
}  // namespace attend
