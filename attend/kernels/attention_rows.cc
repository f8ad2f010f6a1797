#include "attend/kernels/attention_rows.h"

#include <algorithm>

#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/attention_rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/math-inl.h"
#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE real dot_of(const real* a, const real* b, size_t n) {
  Reals s = hn::Zero(Real());
  walk(n, [&](size_t i, auto load, auto, auto valid) HWY_ATTR { s = hn::MulAdd(valid(load(a + i)), load(b + i), s); });
  return hn::GetLane(hn::SumOfLanes(Real(), s));
}

/// energies → weights in place.
HWY_INLINE void softmax_of(real* e, size_t n) {
  const Real d;
  real largest = e[0];
  for (size_t j = 1; j < n; ++j) largest = std::max(largest, e[j]);
  const Reals shift = hn::Set(d, largest);
  Reals sums = hn::Zero(d);
  walk(n, [&](size_t j, auto load, auto store, auto valid) HWY_ATTR {
    const Reals w = exp_below(load(e + j), shift);
    store(w, e + j);
    sums = hn::Add(sums, valid(w));
  });
  const Reals inverse = hn::Set(d, 1 / hn::GetLane(hn::SumOfLanes(d, sums)));
  walk(n, [&](size_t j, auto load, auto store, auto) HWY_ATTR { store(hn::Mul(load(e + j), inverse), e + j); });
}

void row_attention(const RowAttention& p, size_t n, real* e, real* out, real* weights) {
  const size_t D = p.heads * p.depth, count = static_cast<size_t>(p.counts[n]);
  const int32_t* index = p.index + n * p.stride;
  for (size_t h = 0; h < p.heads; ++h) {
    const size_t at = h * p.depth;
    real* context = out + n * D + at;
    std::fill_n(context, p.depth, real{0});
    real* seen = weights ? weights + (n * p.heads + h) * p.stride : nullptr;
    if (seen) std::fill_n(seen, p.stride, real{0});
    if (count == 0) continue;
    for (size_t j = 0; j < count; ++j) {
      e[j] = p.scale * dot_of(p.q + n * D + at, p.keys + static_cast<size_t>(index[j]) * D + at, p.depth);
    }
    softmax_of(e, count);
    for (size_t j = 0; j < count; ++j) {
      const real* value = p.values + static_cast<size_t>(index[j]) * D + at;
      const Reals w = hn::Set(Real(), e[j]);
      walk(p.depth, [&](size_t i, auto load, auto store, auto)
                        HWY_ATTR { store(hn::MulAdd(w, load(value + i), load(context + i)), context + i); });
    }
    if (seen) std::copy_n(e, count, seen);
  }
}

void AttentionRows(const RowAttention& p, real* out, real* weights) {
  const size_t work = p.heads * p.depth * p.stride;  // multiply-adds of a row, halved
  parallel_ranges<1>(p.rows, std::max<size_t>(1, (size_t{1} << 16) / (work + 1)), [&](size_t begin, size_t end) {
    const memory::Scratch energies(p.stride);
    for (size_t n = begin; n < end; ++n) row_attention(p, n, energies.data(), out, weights);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AttentionRows);

void attention_rows(const RowAttention& p, real* out, real* weights) {
  HWY_DYNAMIC_DISPATCH(AttentionRows)(p, out, weights);
}

}  // namespace attend::kernels
#endif
