// GIF files, read again by a reader that shares nothing with the writer.
#include "attend/explain/gif.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "attend/base/random.h"
#include "tests/support/message.h"

namespace attend::explain {
namespace {

/// The frames as they are seen, pixel by pixel (GIF89a specification, W3C copy; LZW in appendix F).
class GifReader {
 public:
  struct Frame {
    std::vector<uint8_t> rgb;
    int delay;
    size_t stored;  // pixels
  };
  int width = 0, height = 0;
  bool again = false;
  std::vector<Frame> frames;

  explicit GifReader(const std::string& bytes) : bytes_(bytes) {
    expect(bytes.substr(0, 6) == "GIF89a", "signature");
    at_ = 6;
    width = word(), height = word();
    const int packed = byte();
    byte(), byte();
    expect((packed & 0x80) != 0, "a palette for all frames");
    palette_ = take(static_cast<size_t>(3) << ((packed & 7) + 1));
    canvas_.assign(static_cast<size_t>(width * height) * 3, 77);
    while (block()) {
    }
    expect(at_ == bytes_.size(), "nothing behind the end");
  }

 private:
  static void expect(bool right, const char* what) {
    if (!right) throw std::runtime_error(what);
  }
  int byte() {
    expect(at_ < bytes_.size(), "more bytes");
    return static_cast<unsigned char>(bytes_[at_++]);
  }
  int word() {
    const int low = byte();
    return low + 256 * byte();
  }
  std::string take(size_t count) {
    expect(at_ + count <= bytes_.size(), "more bytes");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::string sub_blocks() {
    std::string all;
    for (int size = byte(); size > 0; size = byte()) all += take(static_cast<size_t>(size));
    return all;
  }

  bool block() {
    const int kind = byte();
    if (kind == 0x3b) return false;
    if (kind == 0x21) {
      const int label = byte();
      const std::string data = sub_blocks();
      if (label == 0xf9) {
        expect(data.size() == 4 && (data[0] & 0x1d) == 0x04, "a frame that stays, without transparency");
        delay_ = static_cast<unsigned char>(data[1]) + 256 * static_cast<unsigned char>(data[2]);
      } else {
        expect(label == 0xff && data == std::string("NETSCAPE2.0\x01\0\0", 14), "without end");
        again = true;
      }
      return true;
    }
    expect(kind == 0x2c, "a frame");
    frame();
    return true;
  }

  void frame() {
    const int left = word(), top = word(), wide = word(), high = word();
    expect(byte() == 0, "neither a palette of its own nor interlaced");
    expect(left + wide <= width && top + high <= height, "a frame within the picture");
    const std::string indices = unpacked(static_cast<size_t>(wide * high));
    for (int y = 0; y < high; ++y) {
      for (int x = 0; x < wide; ++x) {
        const auto index = static_cast<unsigned char>(indices[static_cast<size_t>(y * wide + x)]);
        for (int c = 0; c < 3; ++c) {
          canvas_[static_cast<size_t>(((top + y) * width + left + x) * 3 + c)] =
              static_cast<uint8_t>(palette_[static_cast<size_t>(3 * index + c)]);
        }
      }
    }
    frames.push_back({canvas_, delay_, static_cast<size_t>(wide * high)});
  }

  std::string unpacked(size_t size) {
    const int root = byte();
    const std::string data = sub_blocks();
    const size_t clear = size_t{1} << root, end = clear + 1;
    std::vector<std::string> table;
    size_t bit = 0;
    int bits = root + 1;
    const auto code = [&] {
      size_t value = 0;
      for (int i = 0; i < bits; ++i, ++bit) {
        expect(bit / 8 < data.size(), "more codes");
        value |= static_cast<size_t>(static_cast<unsigned char>(data[bit / 8]) >> (bit % 8) & 1) << i;
      }
      return value;
    };
    const auto reset = [&] {
      table.clear();
      for (size_t i = 0; i < clear; ++i) table.emplace_back(1, static_cast<char>(i));
      table.resize(clear + 2);
      bits = root + 1;
    };
    std::string out, last;
    for (bool fresh = true;;) {
      const size_t next = code();
      if (next == end) break;
      if (next == clear) {
        reset(), fresh = true;
        continue;
      }
      expect(!table.empty(), "a clear code first");
      expect(next < table.size() || (next == table.size() && !fresh), "a code that is known");
      const std::string now = next < table.size() ? table[next] : last + last[0];
      if (!fresh && table.size() < 4096) table.push_back(last + now[0]);
      if (table.size() == size_t{1} << bits && bits < 12) ++bits;
      out += now, last = now, fresh = false;
    }
    expect(out.size() == size, "as many pixels as the frame has");
    expect(bit / 8 + 1 >= data.size(), "nothing behind the end code");
    return out;
  }

  const std::string bytes_;
  size_t at_ = 0;
  std::string palette_;
  std::vector<uint8_t> canvas_;
  int delay_ = 0;
};

data::Image noise(int64_t height, int64_t width, int64_t channels, int values, uint64_t seed) {
  data::Image image(height, width, channels);
  Random random(seed);
  for (uint8_t& pixel : image.pixels)
    pixel = static_cast<uint8_t>(random.below(static_cast<uint64_t>(values)) * 255 / 6);
  return image;
}

std::vector<uint8_t> rgb_of(const data::Image& image) {
  if (image.channels == 3) return image.pixels;
  std::vector<uint8_t> rgb;
  for (const uint8_t grey : image.pixels) rgb.insert(rgb.end(), 3, grey);
  return rgb;
}

TEST(Gif, FewColoursComeBackExactly) {
  for (const int64_t side : {1, 2, 17, 200}) {  // 200 × 200 pixels of noise fill the table of codes many times
    for (const int64_t channels : {1, 3}) {
      const std::vector<GifFrame> frames{{noise(side, side + 3, channels, 6, 1), 50},
                                         {noise(side, side + 3, channels, 6, 2), 70}};
      const GifReader gif(encode_gif(frames));
      EXPECT_EQ(gif.width, side + 3);
      EXPECT_EQ(gif.height, side);
      EXPECT_TRUE(gif.again);
      ASSERT_EQ(gif.frames.size(), 2u);
      for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(gif.frames[i].rgb == rgb_of(frames[i].image)) << side << " " << i;
      EXPECT_EQ(gif.frames[0].delay, 50);
      EXPECT_EQ(gif.frames[1].delay, 70);
    }
  }
}

TEST(Gif, EveryLengthOfCodes) {  // each a code more: all widths, and the end right before and after each step
  for (int64_t width = 1; width < 2400; width += width < 900 ? 1 : 37) {
    const std::vector<GifFrame> frames{{noise(1, width, 1, 7, 3), 1}};
    ASSERT_TRUE(GifReader(encode_gif(frames)).frames[0].rgb == rgb_of(frames[0].image)) << width;
  }
}

TEST(Gif, AllGreysFit) {
  data::Image image(16, 16, 1);
  for (size_t i = 0; i < 256; ++i) image.pixels[i] = static_cast<uint8_t>(i);
  EXPECT_TRUE(GifReader(encode_gif(std::vector<GifFrame>{{image, 1}})).frames[0].rgb == rgb_of(image));
}

TEST(Gif, ManyColoursComeNear) {
  data::Image image(128, 128, 3);  // a smooth square of 16,384 colours
  for (int64_t y = 0; y < 128; ++y) {
    for (int64_t x = 0; x < 128; ++x) {
      image.at(y, x, 0) = static_cast<uint8_t>(2 * x), image.at(y, x, 1) = static_cast<uint8_t>(2 * y);
      image.at(y, x, 2) = static_cast<uint8_t>(255 - x - y);
    }
  }
  const GifReader gif(encode_gif(std::vector<GifFrame>{{image, 1}}));
  double sum = 0;
  for (size_t i = 0; i < image.pixels.size(); ++i) {
    const double error = static_cast<double>(gif.frames[0].rgb[i]) - image.pixels[i];
    sum += error * error;
  }
  EXPECT_LT(std::sqrt(sum / static_cast<double>(image.pixels.size())), 6.0);
}

TEST(Gif, OnlyWhatChangesIsStored) {
  data::Image before(50, 40, 1), after = before;
  after.at(10, 5) = 255, after.at(12, 9) = 255;
  const GifReader gif(encode_gif(std::vector<GifFrame>{{before, 1}, {after, 1}, {after, 1}, {before, 1}}));
  ASSERT_EQ(gif.frames.size(), 4u);
  EXPECT_EQ(gif.frames[0].stored, 2000u);
  EXPECT_EQ(gif.frames[1].stored, 3u * 5u);
  EXPECT_EQ(gif.frames[2].stored, 1u) << "nothing changes";
  EXPECT_TRUE(gif.frames[2].rgb == rgb_of(after));
  EXPECT_TRUE(gif.frames[3].rgb == rgb_of(before));
}

TEST(Gif, OtherFramesAreRefused) {
  EXPECT_EQ(test::message_of([] { encode_gif({}); }), "gif: expected a frame, got none");
  const auto frames = [](int64_t height, int64_t time) {
    return std::vector<GifFrame>{{data::Image(2, 2, 1), 1}, {data::Image(height, 2, 1), time}};
  };
  EXPECT_EQ(test::message_of([&] { encode_gif(frames(3, 1)); }),
            "gif: expected frames of 2 × 2, as the first, got 2 × 3");
  EXPECT_EQ(test::message_of([&] { encode_gif(frames(2, 70000)); }),
            "gif: expected 0 to 65535 centiseconds, got 70000");
  EXPECT_NE(test::message_of([&] { encode_gif(std::vector<GifFrame>{{data::Image(1, 65536, 1), 1}}); }), "");
  EXPECT_NE(test::message_of([&] { encode_gif(std::vector<GifFrame>{{data::Image(), 1}}); }), "");
}

}  // namespace
}  // namespace attend::explain
