// The inner loops of every matrix product, compiled once per instruction set (see gemm.cc for the blocking).
//
// C[M,N] = A[M,K] · B[K,N] with A in rows (any leading dimension) and B in panels of kPanel = 2 vectors of columns:
// panel p holds B[k, p·kPanel + j] at k·kPanel + j. A tile of kTileRows × kPanel sums stays in registers over all of K:
// 6×2 sums + 2 vectors of B + a broadcast of A fill the 16 registers of AVX2; AVX-512 has 32 and takes 12 rows.
#if defined(ATTEND_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_GEMM_INL_H_
#undef ATTEND_KERNELS_GEMM_INL_H_
#else
#define ATTEND_KERNELS_GEMM_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "attend/base/real.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Real = hn::ScalableTag<real>;
using Reals = hn::Vec<Real>;

constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(real);
constexpr size_t kPanel = 2 * kLanes;
constexpr size_t kTileRows = HWY_MAX_BYTES >= 64 ? 12 : 6;
// K is cut so that a block of one panel (256 × 16 floats = 16 KiB on AVX2) stays in half of a 32 KiB first-level cache.
constexpr size_t kBlockK = 256;
// Rows of A per block: 96 × 256 floats = 96 KiB, a fifth of the smallest second-level cache in use (512 KiB).
constexpr size_t kBlockRows = 96;

constexpr size_t panels(size_t n) { return (n + kPanel - 1) / kPanel; }
constexpr size_t packed_size(size_t k, size_t n) { return panels(n) * kPanel * k; }
/// The number of a layout (0 … 7) of this instruction set's panels, for PackedWeights.
constexpr size_t packed_form(size_t layout) { return kPanel * 8 + layout; }

/// One tile: c[R, 2·kLanes] (+)= a[R, k] · b[k, 2·kLanes]; rows of b lie `ldb` apart.
template <size_t R>
HWY_INLINE void tile(const real* HWY_RESTRICT a, size_t lda, const real* HWY_RESTRICT b, size_t ldb, size_t k,
                     real* HWY_RESTRICT c, size_t ldc, bool accumulate) {
  const Real d;
  Reals left[R], right[R];
#pragma GCC unroll 12
  for (size_t r = 0; r < R; ++r) {
    left[r] = right[r] = hn::Zero(d);
    __builtin_prefetch(c + r * ldc, 1);  // written once the sums are done
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < k; ++i) {
    const Reals b0 = hn::LoadU(d, b + i * ldb);
    const Reals b1 = hn::LoadU(d, b + i * ldb + kLanes);
#pragma GCC unroll 12
    for (size_t r = 0; r < R; ++r) {
      const Reals x = hn::Set(d, a[r * lda + i]);
      left[r] = hn::MulAdd(x, b0, left[r]);
      right[r] = hn::MulAdd(x, b1, right[r]);
    }
  }
#pragma GCC unroll 12
  for (size_t r = 0; r < R; ++r) {
    real* out = c + r * ldc;
    if (accumulate) {
      left[r] = hn::Add(left[r], hn::LoadU(d, out));
      right[r] = hn::Add(right[r], hn::LoadU(d, out + kLanes));
    }
    hn::StoreU(left[r], d, out);
    hn::StoreU(right[r], d, out + kLanes);
  }
}

/// The same for the last panel, of which only `columns` < kPanel belong to C.
template <size_t R>
HWY_INLINE void narrow_tile(const real* a, size_t lda, const real* b, size_t ldb, size_t k, real* c, size_t ldc,
                            size_t columns, bool accumulate) {
  HWY_ALIGN real sums[R * kPanel];
  tile<R>(a, lda, b, ldb, k, sums, kPanel, false);
  for (size_t r = 0; r < R; ++r) {
    for (size_t j = 0; j < columns; ++j) {
      c[r * ldc + j] = accumulate ? c[r * ldc + j] + sums[r * kPanel + j] : sums[r * kPanel + j];
    }
  }
}

using TileFunction = void (*)(const real*, size_t, const real*, size_t, size_t, real*, size_t, size_t, bool);

template <size_t R>
void run_tile(const real* a, size_t lda, const real* b, size_t ldb, size_t k, real* c, size_t ldc, size_t columns,
              bool accumulate) {
  if (columns >= kPanel) {
    tile<R>(a, lda, b, ldb, k, c, ldc, accumulate);
  } else {
    narrow_tile<R>(a, lda, b, ldb, k, c, ldc, columns, accumulate);
  }
}

/// Tiles of 1 … kTileRows rows; index 0 is never used.
inline constexpr TileFunction kTiles[] = {
    nullptr,     run_tile<1>, run_tile<2>, run_tile<3>,  run_tile<4>,  run_tile<5>,  run_tile<6>,
#if HWY_MAX_BYTES >= 64
    run_tile<7>, run_tile<8>, run_tile<9>, run_tile<10>, run_tile<11>, run_tile<12>,
#endif
};

/// C[m, n] (+)= A[m, k] · B for one block that fits the caches; B in panels that lie `panel_stride` apart.
/// Rows are dealt evenly (8 = 4 + 4, not 6 + 2): a tile of few rows has too few sums in flight to hide the latency.
HWY_INLINE void block_product(const real* a, size_t lda, const real* b, size_t panel_stride, size_t m, size_t n,
                              size_t k, real* c, size_t ldc, bool accumulate, size_t ldb = kPanel) {
  const size_t tiles = (m + kTileRows - 1) / kTileRows;
  if (tiles == 0) return;
  const size_t rows = m / tiles, longer = m % tiles;
  const TileFunction tall = longer > 0 ? kTiles[rows + 1] : nullptr, usual = kTiles[rows];
  for (size_t j = 0; j < n; j += kPanel) {
    const real* panel = b + j / kPanel * panel_stride;
    const size_t columns = std::min(kPanel, n - j);
    size_t i = 0;
    for (size_t t = 0; t < longer; ++t, i += rows + 1) {
      tall(a + i * lda, lda, panel, ldb, k, c + i * ldc + j, ldc, columns, accumulate);
    }
    for (size_t t = longer; t < tiles; ++t, i += rows) {
      usual(a + i * lda, lda, panel, ldb, k, c + i * ldc + j, ldc, columns, accumulate);
    }
  }
}

/// C[m, n] (+)= A[m, k] · B on the calling thread, any size; B packed whole (panels of k × kPanel).
HWY_INLINE void packed_product(const real* a, size_t lda, const real* b, size_t packed_k, size_t m, size_t n, size_t k,
                               real* c, size_t ldc, bool accumulate) {
  for (size_t i = 0; i < m; i += kBlockRows) {
    const size_t rows = std::min(kBlockRows, m - i);
    for (size_t p = 0; p < k || p == 0; p += kBlockK) {
      const size_t depth = std::min(kBlockK, k - p);
      block_product(a + i * lda + p, lda, b + p * kPanel, packed_k * kPanel, rows, n, depth, c + i * ldc, ldc,
                    accumulate || p > 0);
    }
  }
}

/// out[columns, rows] = in[rows, columns]ᵀ for small blocks; leading dimensions free. Four by four in registers.
HWY_INLINE void transpose_block(const real* HWY_RESTRICT in, size_t ld_in, size_t rows, size_t columns,
                                real* HWY_RESTRICT out, size_t ld_out) {
#ifndef ATTEND_REAL64
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> dd;
  size_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const real* r0 = in + i * ld_in;
    const real *r1 = r0 + ld_in, *r2 = r1 + ld_in, *r3 = r2 + ld_in;
    size_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      const auto a = hn::LoadU(d, r0 + j), b = hn::LoadU(d, r1 + j), c = hn::LoadU(d, r2 + j), e = hn::LoadU(d, r3 + j);
      const auto ab_low = hn::BitCast(dd, hn::InterleaveLower(d, a, b));
      const auto ab_high = hn::BitCast(dd, hn::InterleaveUpper(d, a, b));
      const auto ce_low = hn::BitCast(dd, hn::InterleaveLower(d, c, e));
      const auto ce_high = hn::BitCast(dd, hn::InterleaveUpper(d, c, e));
      real* o = out + j * ld_out + i;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, ab_low, ce_low)), d, o);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, ab_low, ce_low)), d, o + ld_out);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, ab_high, ce_high)), d, o + 2 * ld_out);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, ab_high, ce_high)), d, o + 3 * ld_out);
    }
    for (; j < columns; ++j) {
      real* o = out + j * ld_out + i;
      o[0] = r0[j], o[1] = r1[j], o[2] = r2[j], o[3] = r3[j];
    }
  }
  for (; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) out[j * ld_out + i] = in[i * ld_in + j];
  }
#else
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) out[j * ld_out + i] = in[i * ld_in + j];
  }
#endif
}

/// One panel of B[k, columns ≤ kPanel] given in rows (`transposed` = false) or as Bᵀ[columns, k]; the rest is zero.
HWY_INLINE void pack_panel(const real* HWY_RESTRICT b, size_t ldb, bool transposed, size_t k, size_t columns,
                           real* HWY_RESTRICT out) {
  if (transposed) {
    if (columns < kPanel) std::fill_n(out, k * kPanel, real{0});
    transpose_block(b, ldb, columns, k, out, kPanel);
    return;
  }
  const Real d;
  if (columns == kPanel) {
    for (size_t i = 0; i < k; ++i) {
      hn::StoreU(hn::LoadU(d, b + i * ldb), d, out + i * kPanel);
      hn::StoreU(hn::LoadU(d, b + i * ldb + kLanes), d, out + i * kPanel + kLanes);
    }
    return;
  }
  for (size_t i = 0; i < k; ++i) {
    for (size_t j = 0; j < kPanel; ++j) out[i * kPanel + j] = j < columns ? b[i * ldb + j] : real{0};
  }
}

/// All panels of B[k, n], one after the other.
HWY_INLINE void pack(const real* b, size_t ldb, bool transposed, size_t k, size_t n, real* out) {
  for (size_t j = 0; j < n; j += kPanel) {
    pack_panel(transposed ? b + j * ldb : b + j, ldb, transposed, k, std::min(kPanel, n - j),
               out + j / kPanel * kPanel * k);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#endif
