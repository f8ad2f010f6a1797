#include "attend/base/random.h"

#include <cmath>
#include <numbers>

namespace attend {

Random Random::named(std::string_view name) const {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return Random(seed_, stream_ ^ hash);
}

uint32_t Random::bits() {
  const uint64_t block = position_ / 4;
  if (block != words_at_) {
    words_ = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), static_cast<uint32_t>(stream_),
                     static_cast<uint32_t>(stream_ >> 32)},
                    seed_);
    words_at_ = block;
  }
  return words_[position_++ % 4];
}

double Random::uniform53() {
  const uint64_t high = bits() >> 5, low = bits() >> 6;
  return static_cast<double>(high << 26 | low) * 0x1p-53;
}

double Random::normal() {
  const double u = 1.0 - uniform53(), v = uniform53();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

uint64_t Random::below(uint64_t count) {
  const uint64_t limit = count * (~uint64_t{0} / count);
  for (;;) {
    const uint64_t high = bits(), low = bits(), x = high << 32 | low;
    if (x < limit) return x % count;
  }
}

uint64_t Random::next_key() {
  const uint64_t high = bits();
  return high << 32 | bits();
}

void Random::seek(uint64_t position) { position_ = position; }

}  // namespace attend
