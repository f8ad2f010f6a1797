#include "attend/data/image_file.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tests/data/big_endian.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;
using test::TestFolder;

Image decode_bytes(std::string_view bytes, const ImageLimits& limits = {}) {
  return decode_image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x", limits);
}

std::string image_refusal(std::string_view bytes, const ImageLimits& limits = {}) {
  return message_of([&] { decode_bytes(bytes, limits); });
}

Image pattern(int64_t height, int64_t width, int64_t channels) {
  Image image(height, width, channels);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(i * 37 + i / 11);
  return image;
}

// PNG files by hand, byte for byte, for what write_png does not write.

uint32_t crc(std::string_view bytes) {
  uint32_t state = ~0u;
  for (const char byte : bytes) {
    state ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ (state & 1 ? 0xEDB88320u : 0);
  }
  return ~state;
}

std::string chunk(const std::string& type, const std::string& data) {
  return big_endian(static_cast<uint32_t>(data.size())) + type + data + big_endian(crc(type + data));
}

/// zlib's format, as one stored block.
std::string deflated(const std::string& data) {
  uint32_t a = 1, b = 0;  // Adler-32
  for (const char byte : data) a = (a + static_cast<uint8_t>(byte)) % 65521, b = (b + a) % 65521;
  const auto size = static_cast<uint16_t>(data.size()), not_size = static_cast<uint16_t>(~size);
  std::string bytes{'\x78', '\x01', '\x01'};
  for (const uint16_t word : {size, not_size}) bytes += {static_cast<char>(word), static_cast<char>(word >> 8)};
  return bytes + data + big_endian(b << 16 | a);
}

/// `extra`: chunks before the data; `rows`: each with its filter byte before it.
std::string png(uint32_t width, uint32_t height, char bits, char colour, const std::string& rows,
                const std::string& extra = "") {
  const std::string header = big_endian(width) + big_endian(height) + std::string{bits, colour, 0, 0, 0};
  return "\x89PNG\r\n\x1A\n" + chunk("IHDR", header) + extra + chunk("IDAT", deflated(rows)) + chunk("IEND", "");
}

// JPEG files by hand: baseline, one 8×8 block per component, each only with a DC difference of two bits.

std::string segment(char marker, const std::string& data) {
  const auto size = static_cast<uint16_t>(data.size() + 2);
  return std::string{'\xFF', marker, static_cast<char>(size >> 8), static_cast<char>(size)} + data;
}

/// Each component is one level: 128 + 100·dc[i], dc in −1…1. `adobe`: the transform of that marker, −1 for none.
std::string jpeg(uint16_t height, uint16_t width, const std::vector<int>& dc, int adobe = -1) {
  std::string bytes = "\xFF\xD8";
  if (adobe >= 0) bytes += segment('\xEE', std::string("Adobe\0\x64\0\0\0\0", 11) + static_cast<char>(adobe));
  bytes += segment('\xDB', std::string(1, '\0') + std::string(64, 100));  // DC step 100, an eighth of 800
  std::string frame = {'\x08',
                       static_cast<char>(height >> 8),
                       static_cast<char>(height),
                       static_cast<char>(width >> 8),
                       static_cast<char>(width),
                       static_cast<char>(dc.size())};
  std::string scan(1, static_cast<char>(dc.size()));
  for (size_t i = 0; i < dc.size(); ++i) {
    frame += std::string{static_cast<char>(i + 1), '\x11', '\0'};
    scan += std::string{static_cast<char>(i + 1), '\0'};
  }
  bytes += segment('\xC0', frame);
  // DC: "0" is no difference, "10" one of four bits. AC: "0" ends the block.
  bytes += segment('\xC4', std::string("\x00\x01\x01", 3) + std::string(14, '\0') + std::string("\x00\x04", 2));
  bytes += segment('\xC4', std::string("\x10\x01", 2) + std::string(15, '\0') + std::string("\x00", 1));
  bytes += segment('\xDA', scan + std::string("\x00\x3F\x00", 3));
  std::string code;
  for (const int level : dc) {
    // ±8 steps of 100 / 8: 1000 for 8, 0111 for −8.
    code += level == 0 ? "00" : level > 0 ? "1010000" : "1001110";
  }
  while (code.size() % 8 != 0) code += '1';
  for (size_t i = 0; i < code.size(); i += 8) {
    const auto byte = static_cast<uint8_t>(std::stoi(code.substr(i, 8), nullptr, 2));
    bytes += static_cast<char>(byte);
    if (byte == 0xFF) bytes += '\0';
  }
  return bytes + "\xFF\xD9";
}

std::array<int, 3> first_pixel(const Image& image) {
  return {image.pixels.at(0), image.pixels.at(1), image.pixels.at(2)};
}

TEST(Png, IsReadAsItWasWritten) {
  for (const int64_t channels : {1, 3}) {
    for (const auto& [height, width] : {std::pair{1, 1}, {1, 300}, {17, 23}}) {
      const Image image = pattern(height, width, channels), again = decode_bytes(encode_png(image));
      EXPECT_EQ(again.height, height);
      EXPECT_EQ(again.width, width);
      EXPECT_EQ(again.channels, channels);
      EXPECT_EQ(again.pixels, image.pixels);
    }
  }
  const TestFolder folder;
  write_png(folder.path() / "a.jpg", pattern(2, 3, 3));  // known by its bytes, not by its name
  EXPECT_EQ(read_image(folder.path() / "a.jpg").pixels, pattern(2, 3, 3).pixels);
}

TEST(Png, OfAnyKindBecomesGreyOrColour) {
  // A palette of two colours, a bit per pixel.
  const std::string palette = chunk("PLTE", "\x01\x02\x03\x0A\x0B\x0C");
  const Image from_palette = decode_bytes(png(2, 1, 1, 3, std::string("\0\x40", 2), palette));
  EXPECT_EQ(from_palette.pixels, (std::vector<uint8_t>{1, 2, 3, 10, 11, 12}));
  // Grey of 16 bits.
  const Image deep = decode_bytes(png(2, 1, 16, 0, std::string("\0\x80\x80\xFF\xFF", 5)));
  EXPECT_EQ(deep.channels, 1);
  EXPECT_EQ(deep.pixels, (std::vector<uint8_t>{128, 255}));
  // Grey of 1 bit.
  EXPECT_EQ(decode_bytes(png(3, 1, 1, 0, std::string("\0\xA0", 2))).pixels, (std::vector<uint8_t>{255, 0, 255}));
}

TEST(Png, LiesOverWhiteWhereItIsTransparent) {
  const Image image =
      decode_bytes(png(3, 1, 8, 6, std::string("\0\xC8\x64\x00\xFF\xC8\x64\x00\x00\xC8\x64\x00\x80", 13)));
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.pixels, (std::vector<uint8_t>{200, 100, 0, 255, 255, 255, 227, 177, 127}));
  EXPECT_EQ(decode_bytes(png(2, 1, 8, 4, std::string("\0\x0A\xFF\x0A\x00", 5))).pixels,
            (std::vector<uint8_t>{10, 255}));
}

TEST(Png, IsRefusedWhereItIsCutShort) {
  const std::string whole = encode_png(pattern(20, 30, 3));
  for (size_t size = 8; size < whole.size() - 12; size += 7) {  // the last 12 bytes only say that it ends
    EXPECT_TRUE(says(image_refusal(whole.substr(0, size)), "x: expected a ")) << size;
  }
  EXPECT_TRUE(says(image_refusal(whole.substr(0, whole.size() / 2)), "expected a whole PNG image of 20×30"))
      << whole.size();
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 1;
  EXPECT_NE(image_refusal(damaged), "");
}

TEST(Png, OfAnEnormousSizeIsRefusedByItsHeader) {
  EXPECT_EQ(image_refusal(png(20000, 20000, 8, 2, "")),
            "x: expected an image of 1 to 40000000 pixels, got 20000×20000");
  EXPECT_NE(image_refusal(png(0xFFFFFFFF, 0xFFFFFFFF, 8, 2, "")), "");
  EXPECT_NE(image_refusal(png(0, 5, 8, 0, "")), "");
  EXPECT_TRUE(says(image_refusal(encode_png(pattern(3, 4, 1)), {.most_pixels = 11}), "got 3×4"));
  EXPECT_EQ(image_refusal(encode_png(pattern(3, 4, 1)), {.most_pixels = 12}), "");
}

TEST(Png, OfWhatIsNoImageIsNotWritten) {
  EXPECT_TRUE(says(message_of([] { encode_png(Image(2, 2, 2)); }), "1 or 3 channels"));
  EXPECT_NE(message_of([] { encode_png(Image(0, 2, 1)); }), "");
  Image image(2, 2, 1);
  image.pixels.pop_back();
  EXPECT_NE(message_of([&] { encode_png(image); }), "");
}

TEST(Jpeg, OfGreyAndOfColourIsRead) {
  const Image grey = decode_bytes(jpeg(8, 8, {1}));
  EXPECT_EQ(grey.channels, 1);
  EXPECT_EQ(grey.pixels, std::vector<uint8_t>(64, 228));
  const Image small = decode_bytes(jpeg(1, 1, {-1}));
  EXPECT_EQ(small.pixels, std::vector<uint8_t>{28});
  // Luminance 128, red difference +100: red 128 + 1.402·100, green 128 − 0.714·100.
  const Image colour = decode_bytes(jpeg(5, 7, {0, 0, 1}));
  EXPECT_EQ(colour.height, 5);
  EXPECT_EQ(colour.width, 7);
  EXPECT_EQ(first_pixel(colour), (std::array{255, 57, 128}));
}

TEST(Jpeg, OfInksBecomesColour) {
  // 228/255 of cyan ink and 28/255 of black: (1 − 228/255)(1 − 28/255)·255 = 24, …
  EXPECT_EQ(first_pixel(decode_bytes(jpeg(8, 8, {1, 0, 0, -1}))), (std::array{24, 113, 113}));
  // Adobe's say what is left of the paper: 228·28/255 = 25, 128·28/255 = 14.
  EXPECT_EQ(first_pixel(decode_bytes(jpeg(8, 8, {1, 0, 0, -1}, 0))), (std::array{25, 14, 14}));
}

/// An Exif segment with this orientation, big- or little-endian.
std::string exif(uint16_t orientation, bool big = true) {
  const auto number = [&](uint32_t value, int size) {
    std::string bytes;
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * (big ? size - 1 - i : i));
    return bytes;
  };
  return std::string("Exif\0\0", 6) + (big ? "MM" : "II") + number(42, 2) + number(8, 4) + number(2, 2) +
         number(0x010F, 2) + number(2, 2) + number(1, 4) + number(0, 4) +  // another entry before it
         number(0x0112, 2) + number(3, 2) + number(1, 4) + number(orientation, 2) + number(0, 2) + number(0, 4);
}

/// That JPEG with such a segment behind its first two bytes.
std::string with_exif(std::string bytes, const std::string& block) { return bytes.insert(2, segment('\xE1', block)); }

/// Four blocks, cut to a height of 12: dark, medium; light, light. No turn or mirror but one gives the same corners.
std::string four_blocks() {
  const std::string bytes = jpeg(12, 16, {-1});
  // DC differences of −8, +8, +8 and 0 steps, each followed by the end of its block.
  const std::string code = std::string("1001110") + "1010000" + "1010000" + "00" + "1";
  std::string scan;
  for (size_t i = 0; i < code.size(); i += 8) scan += static_cast<char>(std::stoi(code.substr(i, 8), nullptr, 2));
  return bytes.substr(0, bytes.find("\xFF\xDA") + 2 + 8) + scan + "\xFF\xD9";
}

/// "DMLL": the corners from left to right, the upper ones first.
std::string corners_of(const Image& image) {
  std::string text;
  for (const int64_t y : {int64_t{0}, image.height - 1}) {
    for (const int64_t x : {int64_t{0}, image.width - 1}) text += image.at(y, x) < 80 ? 'D' : image.at(y, x) < 180 ? 'M' : 'L';
  }
  return text;
}

TEST(Jpeg, IsTurnedAsItsCameraSays) {
  ASSERT_EQ(corners_of(decode_bytes(four_blocks())), "DMLL");
  const std::string_view upright[] = {"DMLL", "MDLL", "LLMD", "LLDM", "DLML", "LDLM", "LMLD", "MLDL"};
  for (uint16_t orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big : {true, false}) {
      SCOPED_TRACE(orientation);
      const Image image = decode_bytes(with_exif(four_blocks(), exif(orientation, big)));
      EXPECT_EQ(image.width, orientation < 5 ? 16 : 12);
      EXPECT_EQ(image.height, orientation < 5 ? 12 : 16);
      EXPECT_EQ(corners_of(image), upright[orientation - 1]);
    }
  }
}

TEST(Jpeg, IsReadAsItIsWhereExifMakesNoSense) {
  const std::string whole = exif(6);
  std::vector<std::string> hostile;
  for (size_t size = 0; size < whole.size() - 8; ++size) hostile.push_back(whole.substr(0, size));
  for (const uint16_t value : {uint16_t{0}, uint16_t{9}, uint16_t{65535}}) hostile.push_back(exif(value));
  const auto changed = [&](size_t at, const std::string& with) {
    std::string bytes = whole;
    hostile.push_back(bytes.replace(at, with.size(), with));
  };
  changed(6, "MI"), changed(6, "XX"), changed(8, std::string("\0\x2B", 2));
  changed(10, "\xFF\xFF\xFF\xFF"), changed(10, "\x7F\xFF\xFF\xFE");     // the directory lies outside
  changed(28, std::string("\x01\x13", 2)), changed(30, std::string("\0\4", 2));  // another tag; not a short
  for (const std::string& block : hostile) {
    const Image image = decode_bytes(with_exif(four_blocks(), block));
    EXPECT_EQ(image.width, 16) << block.size();
  }
  std::string many = whole;  // more entries than there are
  many.replace(14, 2, "\xFF\xFF");
  EXPECT_EQ(decode_bytes(with_exif(four_blocks(), many)).width, 12);  // the one that is there counts
}

TEST(Jpeg, IsRefusedWhereItIsCutShort) {
  const std::string whole = jpeg(8, 8, {1, 1, 1});
  ASSERT_EQ(image_refusal(whole), "");
  for (size_t size = 3; size < whole.size() - 2; ++size) {
    EXPECT_TRUE(says(image_refusal(whole.substr(0, size)), "x: expected a ")) << size << " of " << whole.size();
  }
  // 16 columns need another block, and there is none.
  EXPECT_TRUE(says(image_refusal(jpeg(8, 64, {1})), "expected a whole JPEG image of 8×64"))
      << image_refusal(jpeg(8, 64, {1}));
}

TEST(Jpeg, OfAnEnormousSizeIsRefusedByItsHeader) {
  EXPECT_EQ(image_refusal(jpeg(20000, 20000, {1})), "x: expected an image of 1 to 40000000 pixels, got 20000×20000");
  EXPECT_NE(image_refusal(jpeg(0, 8, {1})), "");
}

TEST(ImageFile, OfAnotherKindIsNamed) {
  EXPECT_EQ(image_refusal(""), "x: expected a PNG or JPEG image, got an empty file");
  EXPECT_TRUE(
      says(image_refusal("GIF89a"), "x: expected a PNG or JPEG image, got a file that begins with 0x474946383961"))
      << image_refusal("GIF89a");
  EXPECT_TRUE(says(image_refusal("\xFF\xD8\xFF"), "expected a JPEG image, got a damaged one"));
  EXPECT_TRUE(says(image_refusal(encode_png(pattern(9, 9, 1)), {.most_bytes = 20}), "expected at most 20 bytes"));
  const TestFolder folder;
  EXPECT_TRUE(says(message_of([&] { read_image(folder.path() / "no.png"); }), "no.png: cannot open the file"));
  EXPECT_TRUE(says(message_of([&] { read_image(folder.path()); }), "a folder"));
}

}  // namespace
}  // namespace attend::data
