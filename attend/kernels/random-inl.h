// Philox over vectors: the same numbers as attend/base/random.h, in an order common to all vector widths.
// Number i of row r has 16 bits: block b = i/64, lane l = i mod 8, word w = (i mod 32)/8; the lower half (i mod 64 < 32) or the
// upper half of philox({8·b + l, r, r>>32, tag}, key)[w].
#if defined(ATTEND_KERNELS_RANDOM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_RANDOM_INL_H_
#undef ATTEND_KERNELS_RANDOM_INL_H_
#else
#define ATTEND_KERNELS_RANDOM_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "attend/base/real.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kRandomBlock = 64;
constexpr uint32_t kDropoutTag = 0x64726F70;

/// 32 × 32 → 64 bits in every lane: the high and the low halves.
template <class V>
HWY_INLINE void multiply_wide(V x, V constant, V& high, V& low) {
  const hn::DFromV<V> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto even = hn::MulEven(x, constant);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), constant);
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

/// The 32 words of one block.
HWY_INLINE void random_block(uint64_t key, uint64_t row, uint64_t block, uint32_t* HWY_RESTRICT out) {
  const hn::CappedTag<uint32_t, 8> d;
  using V = hn::Vec<decltype(d)>;
  const V m0 = hn::Set(d, 0xD2511F53u), m1 = hn::Set(d, 0xCD9E8D57u);
  for (size_t lane = 0; lane < 8; lane += hn::Lanes(d)) {
    V c0 = hn::Iota(d, static_cast<uint32_t>(8 * block + lane));
    V c1 = hn::Set(d, static_cast<uint32_t>(row)), c2 = hn::Set(d, static_cast<uint32_t>(row >> 32));
    V c3 = hn::Set(d, kDropoutTag);
    uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      V high0, low0, high1, low1;
      multiply_wide(c0, m0, high0, low0);
      multiply_wide(c2, m1, high1, low1);
      c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, k0));
      c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, k1));
      c1 = low1;
      c3 = low0;
      k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    hn::StoreU(c0, d, out + lane);
    hn::StoreU(c1, d, out + 8 + lane);
    hn::StoreU(c2, d, out + 16 + lane);
    hn::StoreU(c3, d, out + 24 + lane);
  }
}

/// scales[i] = 1/keep or 0 for numbers [64·block, 64·block + 64) of a row. A number has 16 bits, half of a word: enough for
/// a probability, in half the time.
HWY_INLINE void dropout_block(real keep, uint64_t key, uint64_t row, uint64_t block, real* HWY_RESTRICT scales) {
  constexpr size_t kWords = kRandomBlock / 2;
  HWY_ALIGN uint32_t words[kWords];
  random_block(key, row, block, words);
  const int32_t threshold = static_cast<int32_t>(static_cast<double>(keep) * 65536.0);
  const real scale = 1 / keep;
  for (size_t i = 0; i < kWords; ++i) {
    scales[i] = static_cast<int32_t>(words[i] & 0xFFFF) < threshold ? scale : real{0};
    scales[kWords + i] = static_cast<int32_t>(words[i] >> 16) < threshold ? scale : real{0};
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#endif
