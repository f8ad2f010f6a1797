#include "attend/data/idx.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <ios>
#include <sstream>

#include "attend/base/error.h"
#include "attend/data/byte_stream.h"

namespace attend::data {
namespace {

constexpr uint64_t kMostPixels = uint64_t{1} << 24;   // of one image
constexpr uint64_t kMostBytes = uint64_t{1} << 31;    // of all of them
constexpr uint64_t kBesidePixels = 200;               // bytes that an image with its name costs, however small it is
constexpr uint32_t kImages = 0x803, kLabels = 0x801;  // unsigned bytes (8) along 3 axes, along 1

uint32_t read_word(ByteReader& reader, const char* what) {
  std::array<uint8_t, 4> bytes;
  require(reader.read(bytes) == bytes.size(), reader.name(), ": expected ", what,
          " (IDX, four bytes), got the end of the file");
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

std::string in_hex(uint32_t word) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setw(8) << std::setfill('0') << word;
  return text.str();
}

void require_magic(ByteReader& reader, uint32_t expected) {
  const uint32_t magic = read_word(reader, "the magic number");
  if (magic == expected) return;
  const char* what = magic == kImages   ? ", which is that of images"
                     : magic == kLabels ? ", which is that of labels"
                                        : "";
  fail(reader.name(), ": expected an IDX file of ", expected == kImages ? "images" : "labels", ", which begins with ",
       in_hex(expected), ", got ", in_hex(magic), what);
}

void require_end(ByteReader& reader, uint64_t count, const char* what) {
  require(reader.at_end(), reader.name(), ": expected the end of the file after its ", count, " ", what,
          ", got more bytes");
}

std::vector<Image> images_of(ByteReader reader) {
  require_magic(reader, kImages);
  const uint64_t count = read_word(reader, "the number of images");
  const uint64_t height = read_word(reader, "the height"), width = read_word(reader, "the width");
  require(count > 0, reader.name(), ": expected at least one image, got none");
  require(height > 0 && width > 0 && height <= kMostPixels && width <= kMostPixels / height, reader.name(),
          ": expected images of 1 to ", kMostPixels, " pixels, got ", height, "×", width);
  require(count <= kMostBytes / (height * width + kBesidePixels), reader.name(), ": expected at most ",
          kMostBytes / (height * width + kBesidePixels), " images of ", height, "×", width, ", got ", count);
  std::vector<Image> images;
  std::vector<uint8_t> pixels(height * width);
  for (uint64_t i = 0; i < count; ++i) {
    const size_t read = reader.read(pixels);
    require(read == pixels.size(), reader.name(), ": expected ", count, " images of ", height, "×", width,
            ", got the end of the file ", read, " bytes into image ", i);
    Image& image = images.emplace_back();
    image.height = static_cast<int64_t>(height), image.width = static_cast<int64_t>(width);
    image.pixels = pixels;
  }
  require_end(reader, count, "images");
  return images;
}

std::vector<int32_t> labels_of(ByteReader reader) {
  require_magic(reader, kLabels);
  const uint64_t count = read_word(reader, "the number of labels");
  require(count > 0 && count <= kMostBytes / kBesidePixels, reader.name(), ": expected 1 to ",
          kMostBytes / kBesidePixels, " labels, got ", count);
  std::vector<int32_t> labels;
  std::array<uint8_t, 4096> part;
  while (labels.size() < count) {
    const std::span<uint8_t> into = std::span(part).first(std::min<size_t>(part.size(), count - labels.size()));
    const size_t read = reader.read(into);
    require(read == into.size(), reader.name(), ": expected ", count, " labels, got the end of the file after ",
            labels.size() + read);
    labels.insert(labels.end(), into.begin(), into.end());
  }
  require_end(reader, count, "labels");
  return labels;
}

ByteReader reader_of(const std::filesystem::path& path) {
  return {unpacked(file_bytes(path), path.native()), path.native()};
}

ByteReader reader_of(std::span<const std::byte> bytes, std::string name) {
  return {unpacked(memory_bytes(bytes), name), name};
}

}  // namespace

std::vector<Image> read_idx_images(const std::filesystem::path& path) { return images_of(reader_of(path)); }

std::vector<Image> read_idx_images(std::span<const std::byte> bytes, std::string name) {
  return images_of(reader_of(bytes, std::move(name)));
}

std::vector<int32_t> read_idx_labels(const std::filesystem::path& path) { return labels_of(reader_of(path)); }

std::vector<int32_t> read_idx_labels(std::span<const std::byte> bytes, std::string name) {
  return labels_of(reader_of(bytes, std::move(name)));
}

}  // namespace attend::data
