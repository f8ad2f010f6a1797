#include "attend/data/image_file.h"

#include <algorithm>
#include <string_view>

#include "attend/base/error.h"
#include "attend/base/replacement.h"
#include "attend/data/jpeg.h"
#include "attend/data/png.h"

namespace attend::data {
namespace {

struct ImageKind {
  std::string_view name, magic;
  Image (*decode)(std::span<const uint8_t>, const std::string&, int64_t);
};

constexpr ImageKind kImageKinds[] = {
    {"PNG", "\x89PNG\r\n\x1A\n", decode_png},
    {"JPEG", "\xFF\xD8\xFF", decode_jpeg},
};

std::string bytes_in_hex(std::span<const uint8_t> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (const uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

}  // namespace

void check_pixels(const std::string& name, int64_t height, int64_t width, int64_t most_pixels) {
  if (height > 0 && width > 0 && width <= most_pixels / height) return;
  std::ostringstream text;
  text << name << ": expected an image of 1 to " << most_pixels << " pixels, got " << height << "×" << width;
  if (height <= 0 || width <= 0) throw Error(text.str());
  throw TooManyPixels(text.str());
}

Image read_image(const std::filesystem::path& path, const ImageLimits& limits) {
  const std::string bytes = read_file(path, static_cast<size_t>(limits.most_bytes));
  return decode_image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, path.native(), limits);
}

Image decode_image(std::span<const uint8_t> bytes, const std::string& name, const ImageLimits& limits) {
  require(static_cast<int64_t>(bytes.size()) <= limits.most_bytes, name, ": expected at most ", limits.most_bytes,
          " bytes, got ", bytes.size());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const ImageKind& kind : kImageKinds) {
    if (text.starts_with(kind.magic)) return kind.decode(bytes, name, limits.most_pixels);
  }
  if (text.empty()) fail(name, ": expected a PNG or JPEG image, got an empty file");
  fail(name, ": expected a PNG or JPEG image, got a file that begins with ",
       bytes_in_hex(bytes.first(std::min<size_t>(bytes.size(), 8))));
}

void write_png(const std::filesystem::path& path, const Image& image) { write_file(path, encode_png(image)); }

bool is_image_name(const std::filesystem::path& path) {
  std::string extension = path.extension().native();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

}  // namespace attend::data
