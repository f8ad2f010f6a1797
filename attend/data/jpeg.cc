#include "attend/data/jpeg.h"

// clang-format off: the second needs what the first declares
#include <jerror.h>
#include <jpeglib.h>

#include <cstdio>
// clang-format on

#include <csetjmp>
#include <string_view>

#include "attend/base/error.h"
#include "attend/data/image_file.h"

namespace attend::data {
namespace {

// A progressive file may hold any number of scans over the whole picture, of a few bytes each; programs write about a
// dozen.
constexpr int kMostScans = 32;

/// A decoder that returns false on errors. libjpeg exits by longjmp, so no function between setjmp and libjpeg may hold
/// anything with a destructor.
class Decoder {
 public:
  explicit Decoder(std::span<const uint8_t> bytes) : bytes_(bytes) {
    state_.err = jpeg_std_error(&errors_);
    state_.client_data = this;
    errors_.error_exit = [](j_common_ptr state) { self(state).leave(); };
    errors_.emit_message = [](j_common_ptr state, int level) {
      if (level < 0) self(state).warned();
    };
    errors_.output_message = [](j_common_ptr) {};
    progress_.progress_monitor = [](j_common_ptr state) { self(state).count_scans(); };
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() {
    if (made_) jpeg_destroy_decompress(&state_);
  }

  bool read_header() {
    if (setjmp(back_) != 0) return false;
    jpeg_create_decompress(&state_);
    made_ = true;
    state_.progress = &progress_;
    jpeg_mem_src(&state_, bytes_.data(), bytes_.size());
    jpeg_read_header(&state_, TRUE);
    if (state_.jpeg_color_space == JCS_CMYK || state_.jpeg_color_space == JCS_YCCK) {
      state_.out_color_space = JCS_CMYK;
    } else if (state_.jpeg_color_space != JCS_GRAYSCALE) {
      state_.out_color_space = JCS_RGB;
    }
    return true;
  }

  /// Row by row into height·width·channels() bytes.
  bool read_pixels(uint8_t* into) {
    if (setjmp(back_) != 0) return false;
    jpeg_start_decompress(&state_);
    while (state_.output_scanline < state_.output_height) {
      JSAMPROW row = into + static_cast<size_t>(state_.output_scanline) * state_.output_width * channels();
      jpeg_read_scanlines(&state_, &row, 1);
    }
    jpeg_finish_decompress(&state_);
    return true;
  }

  int64_t height() const { return state_.image_height; }
  int64_t width() const { return state_.image_width; }
  size_t channels() const {
    return state_.out_color_space == JCS_GRAYSCALE ? 1 : state_.out_color_space == JCS_CMYK ? 4 : 3;
  }
  bool arithmetic() const { return state_.arith_code != 0; }
  /// Adobe's programs store inverted ink values.
  bool inverted() const { return state_.saw_Adobe_marker != 0; }
  const char* reason() const { return reason_; }

 private:
  static Decoder& self(j_common_ptr state) { return *static_cast<Decoder*>(state->client_data); }

  [[noreturn]] void leave() {
    if (reason_[0] == '\0') errors_.format_message(reinterpret_cast<j_common_ptr>(&state_), reason_);
    std::longjmp(back_, 1);
  }
  /// libjpeg fills what is missing with grey and warns. Tolerated: bytes between segments, which are harmless.
  void warned() {
    if (errors_.msg_code != JWRN_EXTRANEOUS_DATA && errors_.msg_code != JWRN_ADOBE_XFORM) leave();
  }
  void count_scans() {
    if (state_.input_scan_number <= kMostScans) return;
    std::snprintf(reason_, sizeof(reason_), "more than %d scans", kMostScans);
    leave();
  }

  std::span<const uint8_t> bytes_;
  jpeg_decompress_struct state_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf back_;
  char reason_[JMSG_LENGTH_MAX] = "";
  bool made_ = false;
};

/// red = (1 − cyan)(1 − black), and so on.
Image from_cmyk(const Image& inks, bool inverted) {
  Image image(inks.height, inks.width, 3);
  const uint8_t* in = inks.pixels.data();
  for (size_t i = 0; i < image.pixels.size(); in += 4) {
    for (int c = 0; c < 3; ++c) {
      const int light = inverted ? in[c] : 255 - in[c], paper = inverted ? in[3] : 255 - in[3];
      image.pixels[i++] = static_cast<uint8_t>((light * paper + 127) / 255);
    }
  }
  return image;
}

/// The big- or little-endian numbers of a TIFF structure (Exif 2.32, section 4.6); 0 beyond its end.
class Tiff {
 public:
  explicit Tiff(std::span<const uint8_t> bytes) : bytes_(bytes), little_(!bytes.empty() && bytes[0] == 'I') {}
  uint32_t number(size_t at, size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) return 0;
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= uint32_t{bytes_[at + i]} << 8 * (little_ ? i : size - 1 - i);
    return value;
  }
  bool is_one() const {
    return bytes_.size() >= 8 && bytes_[0] == bytes_[1] && (bytes_[0] == 'I' || bytes_[0] == 'M') && number(2, 2) == 42;
  }
  size_t size() const { return bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
  bool little_ = false;
};

/// Of an Exif block: 1 to 8; 1 (as it is) where it has none or makes no sense. Only its first directory is looked at.
int orientation_of(std::span<const uint8_t> block) {
  constexpr size_t kEntry = 12;
  constexpr uint32_t kOrientation = 0x0112, kShort = 3;
  const Tiff tiff(block);
  if (!tiff.is_one()) return 1;
  const size_t directory = tiff.number(4, 4), count = tiff.number(directory, 2);
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = directory + 2 + i * kEntry;
    if (entry + kEntry > tiff.size()) return 1;
    if (tiff.number(entry, 2) != kOrientation) continue;
    const uint32_t value = tiff.number(entry + 8, 2);
    return tiff.number(entry + 2, 2) == kShort && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

/// The same of a file whose header libjpeg has understood: that of the first Exif segment before the pixels.
int orientation_in(std::span<const uint8_t> bytes) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  constexpr uint8_t kApp1 = 0xE1, kScan = 0xDA, kEnd = 0xD9;
  for (size_t at = 2; at + 4 <= bytes.size();) {
    if (bytes[at] != 0xFF) return 1;
    const uint8_t marker = bytes[at + 1];
    if (marker == 0xFF) {  // filling
      ++at;
      continue;
    }
    if (marker == kScan || marker == kEnd) return 1;
    const size_t size = size_t{bytes[at + 2]} << 8 | bytes[at + 3];
    if (size < 2 || size > bytes.size() - at - 2) return 1;
    const std::span<const uint8_t> data = bytes.subspan(at + 4, size - 2);
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    if (marker == kApp1 && text.starts_with(kExif)) return orientation_of(data.subspan(kExif.size()));
    at += 2 + size;
  }
  return 1;
}

/// The image turned and mirrored as a viewer shows it.
Image upright(const Image& image, int orientation) {
  if (orientation == 1) return image;
  const bool turned = orientation >= 5;
  Image out(turned ? image.width : image.height, turned ? image.height : image.width, image.channels);
  const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  for (int64_t y = 0; y < out.height; ++y) {
    for (int64_t x = 0; x < out.width; ++x) {
      const int64_t row = turned ? x : y, column = turned ? y : x;
      const int64_t from_y = from_below ? image.height - 1 - row : row;
      const int64_t from_x = from_right ? image.width - 1 - column : column;
      for (int64_t c = 0; c < image.channels; ++c) out.at(y, x, c) = image.at(from_y, from_x, c);
    }
  }
  return out;
}

}  // namespace

Image decode_jpeg(std::span<const uint8_t> bytes, const std::string& name, int64_t most_pixels) {
  Decoder decoder(bytes);
  if (!decoder.read_header()) fail(name, ": expected a JPEG image, got a damaged one: ", decoder.reason());
  const int64_t height = decoder.height(), width = decoder.width();
  check_pixels(name, height, width, most_pixels);
  // A Huffman code has a bit for every block at least. Arithmetic coding needs none: a hundred bytes may be any size.
  require(!decoder.arithmetic(), name, ": expected a JPEG image with Huffman codes, got one with arithmetic coding");
  Image image(height, width, static_cast<int64_t>(decoder.channels()));
  if (!decoder.read_pixels(image.pixels.data())) {
    fail(name, ": expected a whole JPEG image of ", height, "×", width, ", got a damaged one: ", decoder.reason());
  }
  return upright(image.channels == 4 ? from_cmyk(image, decoder.inverted()) : image, orientation_in(bytes));
}

}  // namespace attend::data
