#include "attend/base/checksum.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little, "XXH64 is defined over little-endian words");

constexpr uint64_t kPrimes[] = {0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                                0x27D4EB2F165667C5};

template <class Word>
uint64_t word_at(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

uint64_t mixed(uint64_t lane, uint64_t word) { return std::rotl(lane + word * kPrimes[1], 31) * kPrimes[0]; }

uint64_t merged(uint64_t sum, uint64_t lane) { return (sum ^ mixed(0, lane)) * kPrimes[0] + kPrimes[3]; }

}  // namespace

void Checksum::mix(const std::byte* block) {
  for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i] = mixed(lanes_[i], word_at<uint64_t>(block + 8 * i));
}

Checksum& Checksum::add(std::span<const std::byte> bytes) {
  const size_t held = size_ % kBlock;
  size_ += bytes.size();
  if (held > 0) {
    const size_t taken = std::min(bytes.size(), kBlock - held);
    std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<ptrdiff_t>(held));
    bytes = bytes.subspan(taken);
    if (held + taken < kBlock) return *this;
    mix(rest_.data());
  }
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) mix(bytes.data());
  std::ranges::copy(bytes, rest_.begin());
  return *this;
}

uint64_t Checksum::value() const {
  uint64_t sum = kPrimes[4];  // of less than a block: its bytes are all in rest_
  if (size_ >= kBlock) {
    sum = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const uint64_t lane : lanes_) sum = merged(sum, lane);
  }
  sum += size_;
  const std::byte *at = rest_.data(), *const end = at + size_ % kBlock;
  for (; end - at >= 8; at += 8) sum = std::rotl(sum ^ mixed(0, word_at<uint64_t>(at)), 27) * kPrimes[0] + kPrimes[3];
  for (; end - at >= 4; at += 4) {
    sum = std::rotl(sum ^ word_at<uint32_t>(at) * kPrimes[0], 23) * kPrimes[1] + kPrimes[2];
  }
  for (; at < end; ++at) sum = std::rotl(sum ^ word_at<uint8_t>(at) * kPrimes[4], 11) * kPrimes[0];
  sum = (sum ^ sum >> 33) * kPrimes[1];
  sum = (sum ^ sum >> 29) * kPrimes[2];
  return sum ^ sum >> 32;
}

std::string Checksum::text() const {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(value()));
  return digits;
}

}  // namespace attend
