#include "attend/kernels/gemm.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/gemm.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Columns of C per task. Narrow enough to give each thread several tasks on the shapes of our models.
constexpr size_t kBlockColumns = 128;
// Below this many multiply-adds (about 10 µs of one core) a product stays on one thread: starting the others costs a
// microsecond or two, and far more when they share their core with another program.
constexpr size_t kParallelWork = size_t{1} << 20;
// A weight that must be fetched from memory for one row of A costs as much time as this many multiply-adds.
constexpr size_t kReadCost = 16;
// What a last-level cache can be trusted to hold.
constexpr size_t kLargeBytes = size_t{12} << 20;
// With fewer rows than this, packing B costs more than the strided reads that it saves.
constexpr size_t kPackRows = 16;

// From this many rows on, packed weights are faster than weights read in place, if a cache holds them.
constexpr size_t kKeptRows = 4;
// With more rows than this, packing B is a small part of the work, and its memory is better released.
constexpr size_t kKeepRows = 512;

void add_bias(const real* bias, size_t m, size_t n, real* c, size_t ldc) {
  const Real d;
  for (size_t i = 0; i < m; ++i) {
    real* row = c + i * ldc;
    size_t j = 0;
    for (; j + kLanes <= n; j += kLanes) hn::StoreU(hn::Add(hn::LoadU(d, row + j), hn::LoadU(d, bias + j)), d, row + j);
    for (; j < n; ++j) row[j] += bias[j];
  }
}

/// Runs `piece(i, rows, j, columns)` over all blocks of C.
template <class Piece>
void over_blocks(const Product& p, Piece&& piece) {
  const size_t tall = (p.m + kBlockRows - 1) / kBlockRows, wide = (p.n + kBlockColumns - 1) / kBlockColumns;
  // A packed B too large for the caches is read once, block by block, and A repeatedly; otherwise the other way round.
  const bool by_columns = p.n > p.m && p.n * p.k * sizeof(real) > kLargeBytes;
  const auto task = [&](size_t t) {
    const size_t i = (by_columns ? t % tall : t / wide) * kBlockRows,
                 j = (by_columns ? t / tall : t % wide) * kBlockColumns;
    piece(i, std::min(kBlockRows, p.m - i), j, std::min(kBlockColumns, p.n - j));
  };
  if (p.m * p.n * p.k < kParallelWork) {
    for (size_t t = 0; t < tall * wide; ++t) task(t);
  } else {
    parallel_for(tall * wide, task);
  }
}

void product_of_packed(const Product& p, const real* a, size_t lda, const real* packed) {
  over_blocks(p, [&](size_t i, size_t rows, size_t j, size_t columns) {
    real* c = p.c + i * p.ldc + j;
    packed_product(a + i * lda, lda, packed + j * p.k, p.k, rows, columns, p.k, c, p.ldc, p.accumulate);
    if (p.bias) add_bias(p.bias + j, rows, columns, c, p.ldc);
  });
}

/// Few rows, B in rows: B is read in place, except for a last panel that would reach past its end.
void product_of_rows(const Product& p, const real* a, size_t lda) {
  over_blocks(p, [&](size_t i, size_t rows, size_t j, size_t columns) {
    real* c = p.c + i * p.ldc + j;
    const size_t whole = columns / kPanel * kPanel;
    for (size_t k = 0; k < p.k; k += kBlockK) {
      const size_t depth = std::min(kBlockK, p.k - k);
      block_product(a + i * lda + k, lda, p.b + k * p.ldb + j, kPanel, rows, whole, depth, c, p.ldc,
                    p.accumulate || k > 0, p.ldb);
      if (whole < columns) {
        HWY_ALIGN real last[kBlockK * kPanel];
        pack_panel(p.b + k * p.ldb + j + whole, p.ldb, false, depth, columns - whole, last);
        block_product(a + i * lda + k, lda, last, 0, rows, columns - whole, depth, c + whole, p.ldc,
                      p.accumulate || k > 0);
      }
    }
    if (p.bias) add_bias(p.bias + j, rows, columns, c, p.ldc);
  });
}

/// Four dot products of one row of A with four rows of Bᵀ, vectors along k.
HWY_INLINE void four_dots(const real* HWY_RESTRICT a, const real* HWY_RESTRICT b, size_t ldb, size_t k,
                          real* HWY_RESTRICT out) {
  const Real d;
  Reals s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, t0 = s0, t1 = s0, t2 = s0, t3 = s0;
  size_t i = 0;
  for (; i + 2 * kLanes <= k; i += 2 * kLanes) {
    const Reals x = hn::LoadU(d, a + i), y = hn::LoadU(d, a + i + kLanes);
    s0 = hn::MulAdd(x, hn::LoadU(d, b + i), s0);
    s1 = hn::MulAdd(x, hn::LoadU(d, b + ldb + i), s1);
    s2 = hn::MulAdd(x, hn::LoadU(d, b + 2 * ldb + i), s2);
    s3 = hn::MulAdd(x, hn::LoadU(d, b + 3 * ldb + i), s3);
    t0 = hn::MulAdd(y, hn::LoadU(d, b + i + kLanes), t0);
    t1 = hn::MulAdd(y, hn::LoadU(d, b + ldb + i + kLanes), t1);
    t2 = hn::MulAdd(y, hn::LoadU(d, b + 2 * ldb + i + kLanes), t2);
    t3 = hn::MulAdd(y, hn::LoadU(d, b + 3 * ldb + i + kLanes), t3);
  }
  out[0] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, t0)));
  out[1] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s1, t1)));
  out[2] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s2, t2)));
  out[3] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s3, t3)));
  for (; i < k; ++i) {
    for (size_t r = 0; r < 4; ++r) out[r] += a[i] * b[r * ldb + i];
  }
}

/// The same for R rows of A at once: each weight that is loaded serves R products. 12 sums + 3 of A + 1 of B fill the 16
/// registers of AVX2 at R = 3.
template <size_t R>
HWY_INLINE void dots(const real* HWY_RESTRICT a, size_t lda, const real* HWY_RESTRICT b, size_t ldb, size_t k,
                     real* HWY_RESTRICT out) {
  const Real d;
  Reals sums[R][4];
  for (size_t r = 0; r < R; ++r) {
    for (size_t c = 0; c < 4; ++c) sums[r][c] = hn::Zero(d);
  }
  size_t i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    Reals x[R];
#pragma GCC unroll 3
    for (size_t r = 0; r < R; ++r) x[r] = hn::LoadU(d, a + r * lda + i);
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; ++c) {
      const Reals y = hn::LoadU(d, b + c * ldb + i);
#pragma GCC unroll 3
      for (size_t r = 0; r < R; ++r) sums[r][c] = hn::MulAdd(x[r], y, sums[r][c]);
    }
  }
  for (size_t r = 0; r < R; ++r) {
    for (size_t c = 0; c < 4; ++c) {
      real sum = hn::GetLane(hn::SumOfLanes(d, sums[r][c]));
      for (size_t j = i; j < k; ++j) sum += a[r * lda + j] * b[c * ldb + j];
      out[r * 4 + c] = sum;
    }
  }
}

/// `rows` ≤ 3 rows of A by four columns; sums [rows, 4]. With ldb = 0 one column is taken four times.
HWY_INLINE void some_dots(size_t rows, const real* a, size_t lda, const real* b, size_t ldb, size_t k, real* sums) {
  if (rows == 1) return four_dots(a, b, ldb, k, sums);
  if (rows == 2) return dots<2>(a, lda, b, ldb, k, sums);
  dots<3>(a, lda, b, ldb, k, sums);
}

/// Few rows, B as Bᵀ[n, k]: dot products along k, each weight read once and never moved.
void product_of_columns(const Product& p, const real* a, size_t lda) {
  const auto store = [&](size_t i, size_t j, real sum) {
    real& c = p.c[i * p.ldc + j];
    c = sum + (p.accumulate ? c : real{0}) + (p.bias ? p.bias[j] : real{0});
  };
  const auto columns = [&](size_t begin, size_t end) {
    real sums[12];
    for (size_t j = begin; j < end; j += 4) {
      const size_t wide = std::min<size_t>(4, end - j);
      for (size_t i = 0, rows = 0; i < p.m; i += rows) {
        // 4 = 2 + 2, not 3 + 1.
        const size_t left = p.m - i;
        rows = left == 4 ? 2 : std::min<size_t>(3, left);
        if (wide == 4) {
          some_dots(rows, a + i * lda, lda, p.b + j * p.ldb, p.ldb, p.k, sums);
          for (size_t r = 0; r < rows * 4; ++r) store(i + r / 4, j + r % 4, sums[r]);
        } else {
          for (size_t c = 0; c < wide; ++c) {  // one by one, summed in the same order
            some_dots(rows, a + i * lda, lda, p.b + (j + c) * p.ldb, 0, p.k, sums);
            for (size_t r = 0; r < rows; ++r) store(i + r, j + c, sums[r * 4]);
          }
        }
      }
    }
  };
  if (std::max(p.m, kReadCost) * p.n * p.k < kParallelWork) return columns(0, p.n);
  parallel_ranges(p.n, 64, columns);
}

void PackB(const Product& p, real* packed) {
  const size_t count = panels(p.n);
  const auto one = [&](size_t panel) {
    const size_t j = panel * kPanel;
    pack_panel(p.transpose_b ? p.b + j * p.ldb : p.b + j, p.ldb, p.transpose_b, p.k, std::min(kPanel, p.n - j),
               packed + j * p.k);
  };
  if (p.k * p.n < kParallelWork / 16) {
    for (size_t panel = 0; panel < count; ++panel) one(panel);
  } else {
    parallel_for(count, one);
  }
}

void Transpose(const real* in, size_t ld_in, size_t rows, size_t columns, real* out, size_t ld_out) {
  // Blocks of 32 × 32: both sides of a block stay in the first-level cache.
  constexpr size_t kBlock = 32;
  const size_t bands = (rows + kBlock - 1) / kBlock;
  const auto band = [&](size_t t) {
    const size_t i = t * kBlock, tall = std::min(kBlock, rows - i);
    for (size_t j = 0; j < columns; j += kBlock) {
      transpose_block(in + i * ld_in + j, ld_in, tall, std::min(kBlock, columns - j), out + j * ld_out + i, ld_out);
    }
  };
  if (rows * columns < kParallelWork / 16) {
    for (size_t t = 0; t < bands; ++t) band(t);
  } else {
    parallel_for(bands, band);
  }
}

/// True if packing B once for many products pays.
bool keeps_packed(const Product& p) {
  if (p.version == 0 || p.m > kKeepRows) return false;
  if (SteadyRows::active()) return true;
  return p.m >= kPackRows || (p.m >= kKeptRows && p.k * p.n * sizeof(real) <= kLargeBytes);
}

void Gemm(const Product& p) {
  if (p.m == 0 || p.n == 0) return;
  // A line more than k: rows that lie a power of two apart would compete for the same few places of a cache.
  const size_t turned = p.k + 64 / sizeof(real);
  const memory::Scratch rows_of_a(p.transpose_a ? p.m * turned : 0);
  const real* a = p.a;
  size_t lda = p.lda;
  if (p.transpose_a) {
    Transpose(p.a, p.lda, p.k, p.m, rows_of_a.data(), turned);
    a = rows_of_a.data();
    lda = turned;
  }
  PackedWeights* const scope = keeps_packed(p) ? PackedWeights::current() : nullptr;
  // B in rows is summed in the order of packed products, whoever reads it; dot products along k are not.
  if (!scope && p.m < kPackRows && p.k > 0 && !(SteadyRows::active() && p.transpose_b)) {
    return p.transpose_b ? product_of_columns(p, a, lda) : product_of_rows(p, a, lda);
  }
  const memory::Scratch packed(scope ? 0 : packed_size(p.k, p.n));
  if (scope) {
    const PackedWeights::Key key{p.version, packed_form(p.transpose_b ? 1 : 0)};
    const real* kept = scope->find(key, packed_size(p.k, p.n), [&](real* fresh) { PackB(p, fresh); });
    return product_of_packed(p, a, lda, kept);
  }
  PackB(p, packed.data());
  product_of_packed(p, a, lda, packed.data());
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Gemm);
HWY_EXPORT(Transpose);

namespace {
thread_local PackedWeights* current_weights = nullptr;
thread_local bool steady_rows = false;
}  // namespace

PackedWeights::PackedWeights() : outer_(std::exchange(current_weights, this)) {}
PackedWeights::~PackedWeights() {
  if (open_) current_weights = outer_;
}
PackedWeights::Use::Use(PackedWeights& weights) : outer_(std::exchange(current_weights, &weights)) {}
PackedWeights::Use::~Use() { current_weights = outer_; }
PackedWeights* PackedWeights::current() { return current_weights; }
void PackedWeights::forget() { entries_.clear(); }

const real* PackedWeights::known_as(const Key& key) const {
  for (const Entry& entry : entries_) {
    if (entry.key == key) return entry.packed.data();
  }
  return nullptr;
}

real* PackedWeights::keep(const Key& key, size_t size) {
  return entries_.emplace_back(Entry{key, memory::Scratch(size)}).packed.data();
}

SteadyRows::SteadyRows() : outer_(std::exchange(steady_rows, true)) {}
SteadyRows::~SteadyRows() { steady_rows = outer_; }
bool SteadyRows::active() { return steady_rows; }

void gemm(const Product& product) { HWY_DYNAMIC_DISPATCH(Gemm)(product); }

void batched_gemm(const Product& first, size_t count, size_t stride_a, size_t stride_b, size_t stride_c) {
  const auto one = [&, steady = SteadyRows::active()](size_t i) {  // on any thread
    std::optional<SteadyRows> scope;
    if (steady) scope.emplace();
    Product p = first;
    p.a += i * stride_a;
    p.b += i * stride_b;
    p.c += i * stride_c;
    gemm(p);
  };
  // Many small products: one thread each. Few large ones: all threads on each.
  const bool large = first.m * first.n * first.k >= (size_t{1} << 22);
  if (large || count < static_cast<size_t>(threads()) || count * first.m * first.n * first.k < (size_t{1} << 20)) {
    for (size_t i = 0; i < count; ++i) one(i);
  } else {
    parallel_for(count, one);
  }
}

void transpose(const real* in, size_t rows, size_t columns, real* out) {
  HWY_DYNAMIC_DISPATCH(Transpose)(in, columns, rows, columns, out, rows);
}

}  // namespace attend::kernels
#endif
