#include "attend/data/idx.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/data/big_endian.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;

std::string images_header(uint32_t count, uint32_t height, uint32_t width) {
  return big_endian(0x803) + big_endian(count) + big_endian(height) + big_endian(width);
}

std::vector<Image> images_of(std::string_view bytes) { return read_idx_images(std::as_bytes(std::span(bytes)), "x"); }

std::vector<int32_t> labels_of(std::string_view bytes) { return read_idx_labels(std::as_bytes(std::span(bytes)), "x"); }

std::string refused_images(const std::string& bytes) {
  return message_of([&] { images_of(bytes); });
}

std::string refused_labels(const std::string& bytes) {
  return message_of([&] { labels_of(bytes); });
}

TEST(Idx, ReadsImagesRowByRow) {
  const std::vector<Image> images = images_of(images_header(2, 2, 3) + "abcdefuvwxyz");
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].height, 2);
  EXPECT_EQ(images[0].width, 3);
  EXPECT_EQ(images[0].channels, 1);
  EXPECT_EQ(images[0].at(1, 0), 'd');
  EXPECT_EQ(images[1].at(0, 2), 'w');
}

TEST(Idx, ReadsImagesThatSpanSeveralChunksOfTheFile) {
  std::string bytes = images_header(3, 300, 200);
  for (int i = 0; i < 3 * 300 * 200; ++i) bytes += static_cast<char>(i % 251);
  const std::vector<Image> images = images_of(bytes);
  ASSERT_EQ(images.size(), 3u);
  for (int i = 0; i < 3 * 300 * 200; ++i) {
    ASSERT_EQ(images[static_cast<size_t>(i / 60000)].pixels[static_cast<size_t>(i % 60000)], i % 251) << i;
  }
}

TEST(Idx, ReadsLabelsOfAnyNumber) {
  EXPECT_EQ(labels_of(big_endian(0x801) + big_endian(3) + std::string("\x07\x00\xFF", 3)),
            (std::vector<int32_t>{7, 0, 255}));
  EXPECT_EQ(labels_of(big_endian(0x801) + big_endian(10000) + std::string(10000, '\x05')),
            std::vector<int32_t>(10000, 5));
}

TEST(Idx, ReadsFilesPlainAndPacked) {
  // What `printf '\0\0\10\1\0\0\0\2\3\4' | gzip -n` writes.
  constexpr char kPacked[] =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x63\x60\xe0\x60\x64\x60\x60\x60\x62\x66\x01\x00\xc3\x3b\xdc\xb9\x0a\x00"
      "\x00";
  const test::TestFolder folder;
  const std::string plain = big_endian(0x801) + big_endian(2) + "\x03\x04";
  EXPECT_EQ(read_idx_labels(folder.file("plain", plain)), (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(read_idx_labels(folder.file("packed.gz", std::string(kPacked, sizeof(kPacked)))),
            (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(read_idx_images(folder.file("images", images_header(1, 1, 1) + "a")).size(), 1u);
  EXPECT_NE(message_of([&] { read_idx_images(folder.path() / "none"); }).find("No such file"), std::string::npos);
}

TEST(Idx, TellsImagesFromLabels) {
  EXPECT_EQ(refused_images(big_endian(0x801) + big_endian(1) + "a"),
            "x: expected an IDX file of images, which begins with 0x00000803, got 0x00000801, which is that of labels");
  EXPECT_EQ(refused_labels(images_header(1, 1, 1) + "a"),
            "x: expected an IDX file of labels, which begins with 0x00000801, got 0x00000803, which is that of images");
  EXPECT_EQ(refused_images("\x89PNG\r\n"),
            "x: expected an IDX file of images, which begins with 0x00000803, got 0x89504e47");
}

TEST(Idx, RefusesWhatIsCutShort) {
  const std::string whole = images_header(2, 2, 2) + "abcdefgh";
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refused_images(whole.substr(0, size)).find("got the end of the file"), std::string::npos) << size;
  }
  EXPECT_EQ(refused_images(whole.substr(0, 22)),
            "x: expected 2 images of 2×2, got the end of the file 2 bytes into image 1");
  EXPECT_EQ(refused_labels(big_endian(0x801) + big_endian(5) + "ab"),
            "x: expected 5 labels, got the end of the file after 2");
}

TEST(Idx, RefusesMoreThanItsHeaderSays) {
  EXPECT_EQ(refused_images(images_header(1, 1, 2) + "abc"),
            "x: expected the end of the file after its 1 images, got more bytes");
  EXPECT_EQ(refused_labels(big_endian(0x801) + big_endian(1) + "ab"),
            "x: expected the end of the file after its 1 labels, got more bytes");
}

TEST(Idx, RefusesSizesThatCannotBe) {
  EXPECT_EQ(refused_images(images_header(0, 28, 28)), "x: expected at least one image, got none");
  EXPECT_EQ(refused_images(images_header(1, 0, 28)), "x: expected images of 1 to 16777216 pixels, got 0×28");
  EXPECT_EQ(refused_images(images_header(1, 65536, 65536)),
            "x: expected images of 1 to 16777216 pixels, got 65536×65536");
  // 2^32 × 2^32 × 1 is 0 in 64 bits.
  EXPECT_NE(refused_images(images_header(~0u, ~0u, ~0u)), "");
  EXPECT_EQ(refused_images(images_header(~0u, 28, 28)), "x: expected at most 2182402 images of 28×28, got 4294967295");
  EXPECT_EQ(refused_images(images_header(20'000'000, 1, 1)),
            "x: expected at most 10683998 images of 1×1, got 20000000");
  EXPECT_NE(refused_labels(big_endian(0x801) + big_endian(20'000'000)), "");
  EXPECT_NE(refused_labels(big_endian(0x801) + big_endian(~0u)), "");
}

}  // namespace
}  // namespace attend::data
