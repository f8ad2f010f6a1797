// Bytes as letters and back.
#include "attend/base/base64.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/message.h"

namespace attend {
namespace {

TEST(Base64, AsTheStandardHasIt) {  // RFC 4648, section 10
  const char* const kPairs[][2] = {{"", ""},
                                   {"f", "Zg=="},
                                   {"fo", "Zm8="},
                                   {"foo", "Zm9v"},
                                   {"foob", "Zm9vYg=="},
                                   {"fooba", "Zm9vYmE="},
                                   {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, letters] : kPairs) {
    EXPECT_EQ(base64(bytes), letters);
    EXPECT_EQ(from_base64(letters, "here"), bytes);
  }
  EXPECT_EQ(base64("\xfb\xff\xbf"), "+/+/");
}

TEST(Base64, EveryByteComesBack) {
  std::string all;
  for (int i = 0; i < 1000; ++i) all += static_cast<char>(i * 7 % 256);
  for (size_t size = 0; size < 260; ++size)
    EXPECT_EQ(from_base64(base64(all.substr(0, size)), ""), all.substr(0, size));
}

TEST(Base64, OtherTextsAreRefused) {
  EXPECT_EQ(test::message_of([] { from_base64("Zm9", "png"); }),
            "png: expected base64 in groups of 4 letters, got 3 letters");
  EXPECT_EQ(test::message_of([] { from_base64("Zm9v Zm9", "png"); }), "png: expected base64, got another sign at 4");
  EXPECT_NE(test::message_of([] { from_base64("====", "png"); }), "");
  EXPECT_NE(test::message_of([] { from_base64("Zg==Zg==", "png"); }), "");
}

}  // namespace
}  // namespace attend
