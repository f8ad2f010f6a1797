#include "attend/base/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

std::string text_of(std::string_view bytes) { return Checksum().add(bytes).text(); }

/// Values that other implementations of XXH64 give.
TEST(Checksum, IsThatOfOthers) {
  EXPECT_EQ(text_of(""), "ef46db3751d8e999");
  EXPECT_EQ(text_of("a"), "d24ec4f1a98c6e5b");
  EXPECT_EQ(text_of("abc"), "44bc2cf5ad770999");
  EXPECT_EQ(text_of("Nobody inspects the spammish repetition"), "fbcea83c8a378bf1");
}

TEST(Checksum, IsTheSameInPiecesOfAnySize) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * i + 7 * i);
  const std::string whole = text_of(bytes);
  for (const size_t piece : {1, 3, 8, 31, 32, 33, 64, 100}) {
    Checksum sum;
    for (size_t at = 0; at < bytes.size(); at += piece) sum.add(std::string_view(bytes).substr(at, piece));
    EXPECT_EQ(sum.text(), whole) << piece;
  }
}

TEST(Checksum, ChangesWithEveryBit) {
  std::string bytes(77, 'x');
  const std::string before = text_of(bytes);
  for (char& c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      c = static_cast<char>(c ^ 1 << bit);
      EXPECT_NE(text_of(bytes), before);
      c = static_cast<char>(c ^ 1 << bit);
    }
  }
  EXPECT_NE(text_of(bytes + '\0'), before);
}

}  // namespace
}  // namespace attend
