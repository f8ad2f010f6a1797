// Philox over vectors: the same numbers as attend/base/random.h, in the order that all vector widths share.
// Number i of row r: block b = i/64, lane l = i mod 16, word w = (i mod 64)/16 → philox({16·b + l, r, r>>32, tag}, key)[w].
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

/// The 64 numbers of one block.
HWY_INLINE void random_block(uint64_t key, uint64_t row, uint64_t block, uint32_t* HWY_RESTRICT out) {
  const hn::CappedTag<uint32_t, 16> d;
  using V = hn::Vec<decltype(d)>;
  const V m0 = hn::Set(d, 0xD2511F53u), m1 = hn::Set(d, 0xCD9E8D57u);
  for (size_t lane = 0; lane < 16; lane += hn::Lanes(d)) {
    V c0 = hn::Iota(d, static_cast<uint32_t>(16 * block + lane));
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
    hn::StoreU(c1, d, out + 16 + lane);
    hn::StoreU(c2, d, out + 32 + lane);
    hn::StoreU(c3, d, out + 48 + lane);
  }
}

/// A number below this keeps its element.
HWY_INLINE uint32_t keep_threshold(real keep) {
  const double scaled = static_cast<double>(keep) * 4294967296.0;
  return scaled >= 4294967295.0 ? 0xFFFFFFFFu : static_cast<uint32_t>(scaled);
}

/// scales[i] = 1/keep or 0 for numbers [64·block, 64·block + 64) of a row.
HWY_INLINE void dropout_block(real keep, uint64_t key, uint64_t row, uint64_t block, real* HWY_RESTRICT scales) {
  HWY_ALIGN uint32_t numbers[kRandomBlock];
  random_block(key, row, block, numbers);
  const uint32_t threshold = keep_threshold(keep);
  const real scale = 1 / keep;
  for (size_t i = 0; i < kRandomBlock; ++i) scales[i] = numbers[i] < threshold ? scale : real{0};
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#endif
