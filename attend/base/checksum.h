// A checksum of bytes: XXH64 (Collet, xxhash.com), with seed 0. It finds damage, not forgery; it is several times faster than
// reading a file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attend {

class Checksum {
 public:
  /// The bytes may come in pieces of any size.
  Checksum& add(std::span<const std::byte> bytes);
  Checksum& add(std::string_view bytes) { return add(std::as_bytes(std::span(bytes))); }
  /// Of all bytes so far.
  uint64_t value() const;
  /// That in 16 hexadecimal digits.
  std::string text() const;

 private:
  static constexpr size_t kBlock = 32;
  void mix(const std::byte* block);

  std::array<uint64_t, 4> lanes_{0x60EA27EEADC0B5D6, 0xC2B2AE3D27D4EB4F, 0, 0x61C8864E7A143579};
  std::array<std::byte, kBlock> rest_{};  // the last bytes, size_ % kBlock of them
  uint64_t size_ = 0;
};

}  // namespace attend
