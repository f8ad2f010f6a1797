#include "attend/explain/gif.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "attend/base/error.h"

namespace attend::explain {
namespace {

constexpr size_t kColours = 256;
constexpr int kMostBits = 12;  // of a code

using Rgb = std::array<uint8_t, 3>;

uint32_t packed(const Rgb& colour) {
  return static_cast<uint32_t>(colour[0]) << 16 | static_cast<uint32_t>(colour[1]) << 8 | colour[2];
}

Rgb pixel(const data::Image& image, size_t at) {
  const uint8_t* p = image.pixels.data() + at * static_cast<size_t>(image.channels);
  return image.channels == 1 ? Rgb{p[0], p[0], p[0]} : Rgb{p[0], p[1], p[2]};
}

struct Counted {
  Rgb colour;
  size_t count;
};

/// Colours that will be merged into one.
struct Box {
  std::span<Counted> colours;

  std::array<int, 3> ranges() const {
    std::array<int, 3> found{};
    for (size_t c = 0; c < 3; ++c) {
      const auto [least, most] =
          std::ranges::minmax_element(colours, {}, [c](const Counted& one) { return one.colour[c]; });
      found[c] = most->colour[c] - least->colour[c];
    }
    return found;
  }
  size_t pixels() const {
    size_t sum = 0;
    for (const Counted& one : colours) sum += one.count;
    return sum;
  }
  /// How much is gained by splitting it: many pixels, far from each other.
  double worth() const {
    const auto [r, g, b] = ranges();
    const double widest = std::max({r, g, b});
    return static_cast<double>(pixels()) * widest * widest;
  }
  /// Two boxes with about as many pixels each, split where they differ most.
  std::array<Box, 2> parted() const {
    const auto all = ranges();
    const auto axis = static_cast<size_t>(std::ranges::max_element(all) - all.begin());
    std::ranges::sort(colours, {}, [axis](const Counted& one) { return one.colour[axis]; });
    const size_t half = pixels() / 2;
    size_t sum = 0, cut = 0;
    while (cut + 1 < colours.size() && (cut == 0 || sum + colours[cut].count <= half)) sum += colours[cut++].count;
    return {Box{colours.first(cut)}, Box{colours.subspan(cut)}};
  }
  Rgb mean() const {
    std::array<size_t, 3> sums{};
    for (const Counted& one : colours) {
      for (size_t c = 0; c < 3; ++c) sums[c] += one.count * one.colour[c];
    }
    Rgb colour{};
    const size_t all = pixels();
    for (size_t c = 0; c < 3; ++c) colour[c] = static_cast<uint8_t>((sums[c] + all / 2) / all);
    return colour;
  }
};

class Palette {
 public:
  explicit Palette(std::span<const GifFrame> frames) {
    std::unordered_map<uint32_t, size_t> counts;
    for (const GifFrame& frame : frames) {
      const size_t size = static_cast<size_t>(frame.image.height * frame.image.width);
      for (size_t i = 0; i < size; ++i) ++counts[packed(pixel(frame.image, i))];
    }
    std::vector<Counted> all;
    for (const auto& [number, count] : counts) {
      all.push_back({{static_cast<uint8_t>(number >> 16), static_cast<uint8_t>(number >> 8 & 255),
                      static_cast<uint8_t>(number & 255)},
                     count});
    }
    std::ranges::sort(all, {}, [](const Counted& one) { return packed(one.colour); });  // whatever the map's order
    choose(all);
  }

  const std::vector<Rgb>& colours() const { return colours_; }
  uint8_t index(const Rgb& colour) const { return index_.at(packed(colour)); }

 private:
  struct Rated {
    Box box;
    double worth;
  };

  void choose(std::vector<Counted>& all) {
    std::vector<Rated> boxes{{{all}, Box{all}.worth()}};
    while (boxes.size() < kColours) {
      const auto best = std::ranges::max_element(boxes, {}, &Rated::worth);
      if (best->worth == 0) break;  // one colour each
      const auto [a, b] = best->box.parted();
      *best = {a, a.worth()};
      boxes.push_back({b, b.worth()});
    }
    for (const Rated& one : boxes) colours_.push_back(one.box.mean());
    // The nearest colour need not be that of its own box, which may be long.
    for (const Counted& one : all) index_[packed(one.colour)] = nearest(one.colour);
  }

  uint8_t nearest(const Rgb& colour) const {
    const auto distance = [&](const Rgb& other) {
      int sum = 0;
      for (size_t c = 0; c < 3; ++c) sum += (other[c] - colour[c]) * (other[c] - colour[c]);
      return sum;
    };
    return static_cast<uint8_t>(std::ranges::min_element(colours_, {}, distance) - colours_.begin());
  }

  std::vector<Rgb> colours_;
  std::unordered_map<uint32_t, uint8_t> index_;
};

/// Codes of growing width, lowest bits first, in blocks of at most 255 bytes.
class CodeWriter {
 public:
  explicit CodeWriter(std::string& out) : out_(out) {}
  void put(uint32_t code, int bits) {
    pending_ |= code << count_;
    for (count_ += bits; count_ >= 8; count_ -= 8, pending_ >>= 8) byte();
  }
  void finish() {
    if (count_ > 0) byte();
    flush();
    out_ += '\0';
  }

 private:
  void byte() {
    block_ += static_cast<char>(pending_ & 255);
    if (block_.size() == 255) flush();
  }
  void flush() {
    if (block_.empty()) return;
    out_ += static_cast<char>(block_.size());
    out_ += block_;
    block_.clear();
  }

  std::string& out_;
  std::string block_;
  uint32_t pending_ = 0;
  int count_ = 0;
};

/// GIF's LZW (Welch 1984) over indices of 8 bits.
void compress(std::span<const uint8_t> indices, std::string& out) {
  constexpr uint32_t kClear = 256, kEnd = 257, kFirst = 258;
  out += char{8};
  CodeWriter codes(out);
  std::unordered_map<uint32_t, uint32_t> table;  // (code of a string, next index) → code of both
  uint32_t next = kFirst;
  int bits = 9;
  codes.put(kClear, bits);
  uint32_t prefix = indices[0];
  for (const uint8_t index : indices.subspan(1)) {
    const uint32_t longer = prefix << 8 | index;
    if (const auto found = table.find(longer); found != table.end()) {
      prefix = found->second;
      continue;
    }
    codes.put(prefix, bits);
    if (next == 1u << kMostBits) {
      codes.put(kClear, bits);
      table.clear();
      next = kFirst, bits = 9;
    } else {
      if (next == 1u << bits) ++bits;  // the reader knows this code one step later
      table[longer] = next++;
    }
    prefix = index;
  }
  codes.put(prefix, bits);
  if (next == 1u << bits && bits < kMostBits) ++bits;
  codes.put(kEnd, bits);
  codes.finish();
}

void put_short(std::string& out, int64_t value) {
  out += static_cast<char>(value & 255);
  out += static_cast<char>(value >> 8 & 255);
}

struct Rectangle {
  int64_t left, top, width, height;
};

/// What differs between two frames; one pixel if nothing does.
Rectangle changed(std::span<const uint8_t> before, std::span<const uint8_t> now, int64_t width, int64_t height) {
  int64_t left = width, right = -1, top = height, bottom = -1;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const auto at = static_cast<size_t>(y * width + x);
      if (before[at] == now[at]) continue;
      left = std::min(left, x), right = std::max(right, x), top = std::min(top, y), bottom = y;
    }
  }
  return right < 0 ? Rectangle{0, 0, 1, 1} : Rectangle{left, top, right - left + 1, bottom - top + 1};
}

void put_frame(std::string& out, std::span<const uint8_t> indices, int64_t width, const Rectangle& part,
               int64_t centiseconds) {
  out += "\x21\xf9\x04\x04";  // a graphic control that leaves the frame where it is
  put_short(out, centiseconds);
  out.append(2, '\0');
  out += '\x2c';
  for (const int64_t value : {part.left, part.top, part.width, part.height}) put_short(out, value);
  out += '\0';
  std::vector<uint8_t> cut;
  for (int64_t y = part.top; y < part.top + part.height; ++y) {
    const auto row = indices.subspan(static_cast<size_t>(y * width + part.left), static_cast<size_t>(part.width));
    cut.insert(cut.end(), row.begin(), row.end());
  }
  compress(cut, out);
}

}  // namespace

std::string encode_gif(std::span<const GifFrame> frames) {
  constexpr int64_t kLongest = 65535;
  require(!frames.empty(), "gif: expected a frame, got none");
  const int64_t width = frames[0].image.width, height = frames[0].image.height;
  require(width > 0 && height > 0 && width <= kLongest && height <= kLongest, "gif: expected 1 to ", kLongest,
          " pixels on a side, got ", width, " × ", height);
  for (const GifFrame& frame : frames) {
    require(frame.image.width == width && frame.image.height == height, "gif: expected frames of ", width, " × ",
            height, ", as the first, got ", frame.image.width, " × ", frame.image.height);
    require(frame.centiseconds >= 0 && frame.centiseconds <= kLongest, "gif: expected 0 to ", kLongest,
            " centiseconds, got ", frame.centiseconds);
  }
  const Palette palette(frames);
  std::string out = "GIF89a";
  put_short(out, width), put_short(out, height);
  out += "\xf7";  // 256 colours of 8 bits for all frames
  out.append(2, '\0');
  for (size_t i = 0; i < kColours; ++i) {
    const Rgb colour = i < palette.colours().size() ? palette.colours()[i] : Rgb{};
    for (const uint8_t part : colour) out += static_cast<char>(part);
  }
  out += "\x21\xff\x0bNETSCAPE2.0\x03\x01";  // without end
  out.append(3, '\0');
  std::vector<uint8_t> before;
  for (const GifFrame& frame : frames) {
    std::vector<uint8_t> now(static_cast<size_t>(width * height));
    for (size_t i = 0; i < now.size(); ++i) now[i] = palette.index(pixel(frame.image, i));
    const Rectangle part = before.empty() ? Rectangle{0, 0, width, height} : changed(before, now, width, height);
    put_frame(out, now, width, part, frame.centiseconds);
    before = std::move(now);
  }
  return out + "\x3b";
}

}  // namespace attend::explain
