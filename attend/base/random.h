// Random numbers by counter (Philox4x32-10; Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): number i
// of stream s under a seed is a pure function of (seed, s, i), so it does not matter which thread asks for it, or when.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace attend {

using PhiloxWords = std::array<uint32_t, 4>;

/// Ten rounds of Philox over a 128-bit counter with a 64-bit key.
constexpr PhiloxWords philox(PhiloxWords counter, uint64_t key) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * counter[0], p1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ k0, static_cast<uint32_t>(p1),
               static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  return counter;
}

/// One stream of random numbers. Copying it copies its position.
class Random {
 public:
  explicit Random(uint64_t seed = 0, uint64_t stream = 0) : seed_(seed), stream_(stream) {}
  /// The stream of this seed that belongs to a name ("dropout", "initial weights").
  Random named(std::string_view name) const;

  uint32_t bits();
  /// Uniform in [0, 1), 24 bits.
  float uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }
  /// Uniform in [0, 1), 53 bits.
  double uniform53();
  /// Standard normal (Box–Muller).
  double normal();
  /// Uniform in [0, count), without bias; count > 0.
  uint64_t below(uint64_t count);

  /// A key for a kernel that draws its own numbers (dropout): a new one at each call, advancing this stream.
  uint64_t next_key();

  uint64_t seed() const { return seed_; }
  uint64_t stream() const { return stream_; }
  uint64_t position() const { return position_; }
  void seek(uint64_t position);

 private:
  uint64_t seed_, stream_, position_ = 0;
  PhiloxWords words_{};
  uint64_t words_at_ = ~uint64_t{0};
};

}  // namespace attend
