#include "attend/base/base64.h"

#include <algorithm>
#include <cstdint>

#include "attend/base/error.h"

namespace attend {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t there = std::min<size_t>(3, bytes.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < there ? static_cast<uint8_t>(bytes[at + i]) : 0u);
    for (size_t i = 0; i < 4; ++i) text += i <= there ? kLetters[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::string from_base64(std::string_view text, std::string_view where) {
  require(text.size() % 4 == 0, where, ": expected base64 in groups of 4 letters, got ", text.size(), " letters");
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t value = i >= text.size() - padding ? 0 : kLetters.find(text[i]);
    require(value != kLetters.npos, where, ": expected base64, got another sign at ", i);
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (i % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift & 255);
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace attend
