#include "attend/data/jpeg.h"

// clang-format off: the second needs what the first declares
#include <jerror.h>
#include <jpeglib.h>

#include <cstdio>
// clang-format on

#include <csetjmp>

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
  return image.channels == 4 ? from_cmyk(image, decoder.inverted()) : image;
}

}  // namespace attend::data
