#include "attend/data/png_chunks.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/image_file.h"

namespace attend::data {
namespace {

constexpr size_t kSignature = 8, kBesideData = 12;  // bytes of a chunk beside its data: length, type, checksum

uint32_t word_at(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word = word << 8 | static_cast<uint8_t>(bytes[at + i]);
  return word;
}

struct PngHeader {
  int64_t width = 0, height = 0, bits = 0;  // of a pixel
  bool interlaced = false;

  /// Of a kind that libpng reads.
  bool known() const { return width > 0 && height > 0 && bits > 0; }
};

/// The header's data: width, height, bits of a channel, colour type, three methods.
PngHeader header_from(std::string_view data) {
  if (data.size() != 13) return {};
  constexpr int64_t kChannels[] = {1, 0, 3, 1, 2, 0, 4};  // by colour type
  const auto depth = static_cast<uint8_t>(data[8]), colour = static_cast<uint8_t>(data[9]);
  const bool known = depth <= 16 && colour < std::size(kChannels);
  return {word_at(data, 0), word_at(data, 4), known ? depth * kChannels[colour] : 0, data[12] != 0};
}

/// Bytes of rows, each with its filter's number before it.
int64_t bytes_of_rows(int64_t width, int64_t height, int64_t bits) {
  return width > 0 && height > 0 ? height * (1 + (width * bits + 7) / 8) : 0;
}

/// Bytes that the picture's data unpack to (PNG specification, 7.2 and 8.2: Adam7).
int64_t implied_bytes(const PngHeader& header) {
  if (!header.interlaced) return bytes_of_rows(header.width, header.height, header.bits);
  struct Pass {
    int64_t left, top, across, down;
  };
  constexpr Pass kPasses[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                              {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  int64_t bytes = 0;
  for (const Pass& pass : kPasses) {
    bytes += bytes_of_rows((header.width - pass.left + pass.across - 1) / pass.across,
                           (header.height - pass.top + pass.down - 1) / pass.down, header.bits);
  }
  return bytes;
}

/// Whether the parts, one after another, unpack to more than that many bytes. No more than that is unpacked.
bool unpacks_to_more(std::span<const std::string_view> parts, int64_t most) {
  z_stream stream{};
  require(inflateInit(&stream) == Z_OK, "PNG: no memory to unpack with");
  std::array<Bytef, size_t{1} << 15> out;
  int64_t left = most;
  int result = Z_OK;
  for (const std::string_view part : parts) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));  // zlib only reads it
    stream.avail_in = static_cast<uInt>(part.size());
    bool full = true;  // what did not fit may still be waiting
    while (result == Z_OK && left >= 0 && (stream.avail_in > 0 || full)) {
      // One byte more than is left tells that there is more.
      const auto room = static_cast<uInt>(std::min<int64_t>(left + 1, static_cast<int64_t>(out.size())));
      stream.next_out = out.data(), stream.avail_out = room;
      result = inflate(&stream, Z_NO_FLUSH);
      left -= room - stream.avail_out;
      full = stream.avail_out == 0;
    }
    if (result == Z_BUF_ERROR) result = Z_OK;  // the rest is in the next part
    if (result != Z_OK || left < 0) break;
  }
  inflateEnd(&stream);
  return left < 0;
}

/// Chunks without which there is no picture have a capital letter first. Of the others, those that change its colours.
bool shapes_picture(std::string_view type) {
  constexpr std::string_view kColours[] = {"tRNS", "gAMA", "cHRM", "sRGB", "sBIT", "iCCP"};
  return (type[0] >= 'A' && type[0] <= 'Z') || std::ranges::find(kColours, type) != std::end(kColours);
}

}  // namespace

std::string picture_chunks(std::span<const uint8_t> bytes, const std::string& name, int64_t most_pixels) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string kept(file.substr(0, kSignature));
  std::optional<PngHeader> header;
  std::vector<std::string_view> data;
  bool profile = false;
  for (size_t at = kSignature; at < file.size();) {
    const std::string_view rest = file.substr(at);
    const uint32_t length = rest.size() < kBesideData ? 0 : word_at(rest, 0);
    if (rest.size() < kBesideData || length > rest.size() - kBesideData) {  // cut short
      kept += rest;
      break;
    }
    const std::string_view type = rest.substr(4, 4), content = rest.substr(8, length);
    at += kBesideData + length;
    if (!header) {
      header = type == "IHDR" ? header_from(content) : PngHeader();
      if (header->known()) check_pixels(name, header->height, header->width, most_pixels);
    }
    if (type == "IDAT") data.push_back(content);
    const bool again = type == "iCCP" && std::exchange(profile, true);  // libpng unpacks each of them
    if (shapes_picture(type) && !again) kept += rest.substr(0, kBesideData + length);
    if (type == "IEND") break;
  }
  if (header && header->known()) {
    const int64_t implied = implied_bytes(*header);
    require(!unpacks_to_more(data, implied), name, ": expected ", implied, " bytes of data, as the header of ",
            header->height, "×", header->width, " pixels implies, got more");
  }
  return kept;
}

}  // namespace attend::data
