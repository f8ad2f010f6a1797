// Small files that unpack to large ones: refused, or never unpacked.
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>
#include <vector>

#include "attend/data/image_file.h"
#include "attend/data/lines.h"
#include "attend/data/npy.h"
#include "attend/data/png_chunks.h"
#include "tests/data/big_endian.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;
using test::TestFolder;

/// In the format of zlib, or of gzip.
std::string packed(std::string_view text, bool gzip = false) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + (gzip ? 16 : 0), 9, Z_DEFAULT_STRATEGY);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data()), stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

std::string png_chunk(const std::string& type, const std::string& data) {
  const std::string both = type + data;
  const auto check = crc32(0, reinterpret_cast<const Bytef*>(both.data()), static_cast<uInt>(both.size()));
  return big_endian(static_cast<uint32_t>(data.size())) + both + big_endian(static_cast<uint32_t>(check));
}

struct PngKind {
  int bits, colour, channels;
};

std::string png_begin(uint32_t width, uint32_t height, const PngKind& kind = {8, 0, 1}, bool interlaced = false) {
  const auto bits = static_cast<char>(kind.bits), colour = static_cast<char>(kind.colour);
  const std::string header = big_endian(width) + big_endian(height) + std::string{bits, colour, 0, 0, interlaced};
  return "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", header);
}

const std::string kPngEnd = png_chunk("IEND", "");

std::string png_refusal(const std::string& bytes) {
  return message_of([&] { decode_image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x"); });
}

std::string seen_by_libpng(const std::string& bytes) {
  return picture_chunks({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x", 1'000'000);
}

TEST(Bomb, PngDataBeyondTheHeaderAreRefused) {
  const std::string begin = png_begin(28, 28);
  for (const size_t bytes : {size_t{813}, size_t{40'000'000}}) {
    EXPECT_EQ(png_refusal(begin + png_chunk("IDAT", packed(std::string(bytes, '\0'))) + kPngEnd),
              "x: expected 812 bytes of data, as the header of 28×28 pixels implies, got more")
        << bytes;
  }
  EXPECT_EQ(png_refusal(begin + png_chunk("IDAT", packed(std::string(812, '\0'))) + kPngEnd), "");
}

TEST(Bomb, PngDataMayComeInAnyPieces) {
  const auto in_pieces = [](size_t bytes) {
    std::string png = png_begin(28, 28);
    for (const char byte : packed(std::string(bytes, '\0'))) {
      png += png_chunk("IDAT", std::string(1, byte)) + png_chunk("IDAT", "");
    }
    return png + kPngEnd;
  };
  EXPECT_EQ(png_refusal(in_pieces(812)), "");
  EXPECT_TRUE(says(png_refusal(in_pieces(900)), "got more"));
}

/// Rows of every kind of picture, plain and in seven passes: libpng needs as many bytes as we expect, and no more fit.
TEST(Bomb, PngHeadersImplyWhatLibpngReads) {
  constexpr PngKind kKinds[] = {{1, 0, 1}, {4, 0, 1}, {16, 0, 1}, {8, 2, 3}, {16, 2, 3}, {8, 4, 2}, {16, 6, 4}};
  for (const PngKind& kind : kKinds) {
    for (const auto& [width, height] : {std::pair{1, 1}, {2, 5}, {5, 2}, {9, 8}, {13, 11}}) {
      for (const bool interlaced : {false, true}) {
        const std::string begin =
            png_begin(static_cast<uint32_t>(width), static_cast<uint32_t>(height), kind, interlaced);
        const auto refusal = [&](size_t bytes) {
          return png_refusal(begin + png_chunk("IDAT", packed(std::string(bytes, '\0'))) + kPngEnd);
        };
        size_t bytes = static_cast<size_t>(width * height * kind.bits * kind.channels / 8);  // without filters' numbers
        while (!says(refusal(bytes), "got more") && !refusal(bytes).empty()) ++bytes;
        EXPECT_EQ(refusal(bytes), "") << width << "×" << height << " of colour type " << kind.colour;
        EXPECT_TRUE(says(refusal(bytes + 1), "implies, got more"));
      }
    }
  }
}

TEST(Bomb, PngTextsAreNeverUnpacked) {
  const std::string begin = png_begin(2, 1), data = png_chunk("IDAT", packed(std::string("\0\x0A\x14", 3)));
  const std::string gamma = png_chunk("gAMA", big_endian(45455)), bomb = packed(std::string(1'000'000, 'x'));
  const std::string profile = png_chunk("iCCP", std::string("p\0\0", 3) + bomb);
  std::string texts = png_chunk("zTXt", std::string("a\0\0", 3) + bomb);
  texts += png_chunk("iTXt", std::string("a\0\1\0\0\0", 6) + bomb) + png_chunk("tEXt", std::string("a\0b", 3));
  EXPECT_EQ(seen_by_libpng(begin + texts + gamma + texts + data + texts + kPngEnd + texts),
            begin + gamma + data + kPngEnd);
  EXPECT_EQ(seen_by_libpng(begin + profile + profile + data + kPngEnd), begin + profile + data + kPngEnd);
  EXPECT_EQ(png_refusal(begin + texts + data + kPngEnd), "");
}

std::string jpeg_segment(int marker, const std::string& data) {
  const size_t size = data.size() + 2;
  return std::string{'\xFF', static_cast<char>(marker), static_cast<char>(size >> 8), static_cast<char>(size)} + data;
}

/// A grey picture of 8×8 in scans: the first one of its mean, the others of nothing.
std::string jpeg_of_scans(int scans, int frame = 0xC2) {
  std::string bytes = "\xFF\xD8" + jpeg_segment(0xDB, '\0' + std::string(64, '\1'));
  bytes += jpeg_segment(frame, std::string("\x08\0\x08\0\x08\x01\x01\x11\0", 9));
  // One code each, "0": no difference of means; the end of a block.
  for (const char table : {'\0', '\x10'}) bytes += jpeg_segment(0xC4, table + ('\1' + std::string(16, '\0')));
  bytes += jpeg_segment(0xDA, std::string("\x01\x01\0\0\0\0", 6)) + '\x7F';
  for (int i = 1; i < scans; ++i) bytes += jpeg_segment(0xDA, std::string("\x01\x01\0\x01\x3F\0", 6)) + '\x7F';
  return bytes + "\xFF\xD9";
}

TEST(Bomb, JpegOfMoreScansThanProgramsWriteIsRefused) {
  EXPECT_EQ(png_refusal(jpeg_of_scans(12)), "");
  EXPECT_EQ(png_refusal(jpeg_of_scans(32)), "");
  EXPECT_TRUE(says(png_refusal(jpeg_of_scans(100)), "got a damaged one: more than 32 scans"))
      << png_refusal(jpeg_of_scans(100));
}

TEST(Bomb, JpegWithoutABitForEachBlockIsRefused) {
  constexpr int kArithmetic = 0xCA;
  EXPECT_EQ(png_refusal(jpeg_of_scans(2, kArithmetic)),
            "x: expected a JPEG image with Huffman codes, got one with arithmetic coding");
}

std::string gzip_of_lines(int mebibytes, const std::string& text) {
  std::string million;
  while (million.size() < (size_t{1} << 20)) million += text;
  std::string all;
  for (int i = 0; i < mebibytes; ++i) all += packed(million, true);
  return all;
}

int64_t lines_in(std::string_view bytes) {
  LineReader reader(std::as_bytes(std::span(bytes)), "text");
  for (std::string line; reader.next(line);) {
  }
  return reader.number();
}

TEST(Bomb, GzipBeyondMeasureIsRefused) {
  const std::string line(1023, 'a'), bomb = gzip_of_lines(70, line + "\n");
  ASSERT_LT(bomb.size(), 200'000u);
  const std::string message = message_of([&] { lines_in(bomb); });
  EXPECT_TRUE(says(message, "expected gzip data that unpack to at most 200 times their size, got more than 67"))
      << message;
  EXPECT_TRUE(says(message, "gunzip")) << message;
  EXPECT_EQ(lines_in(gzip_of_lines(60, line + "\n")), 60 * 1024) << "a small file may be as monotonous as it likes";
}

TEST(Bomb, GzipThatIsLargeAsTextIsIsRead) {
  std::string text;
  for (unsigned i = 0, x = 1; i < 40'000; ++i) {
    text += std::to_string(x = x * 1664525 + 1013904223) + (i % 100 == 99 ? "\n" : " ");
  }
  const std::string member = packed(text, true);
  std::string all;
  int64_t lines = 0;
  for (size_t bytes = 0; bytes < size_t{66} << 20; bytes += text.size()) all += member, lines += 400;
  EXPECT_EQ(lines_in(all), lines);
}

TEST(Bomb, LinesThatAreAllHeldHaveALimit) {
  const TestFolder folder;
  const std::filesystem::path path = folder.file("x.gz", packed(std::string(100'000, '\n'), true));
  EXPECT_EQ(read_lines(path).size(), 100'000u);
  const std::string message = message_of([&] { read_lines(path, ByteOrderMark::dropped, size_t{2} << 20); });
  EXPECT_TRUE(says(message, "x.gz:65537: expected lines that fit into 2 MiB, got more")) << message;
}

TEST(Bomb, NpyHeadersHaveALimit) {
  const std::string bytes = std::string("\x93NUMPY\2\0\0\0\1\0", 12) + std::string(65536, ' ');
  const auto refusal = [](const std::string& npy) {
    return message_of([&] { decode_npy(std::as_bytes(std::span(npy)), "x"); });
  };
  EXPECT_TRUE(says(refusal(bytes), "x: expected a header {")) << "as long as allowed, but empty";
  std::string longer = bytes + " ";
  longer[8] = 1;
  EXPECT_EQ(refusal(longer), "x: expected a header of at most 65536 bytes, got 65537");
}

}  // namespace
}  // namespace attend::data
