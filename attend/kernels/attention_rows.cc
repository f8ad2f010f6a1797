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

/// scale·q·k of four keys: each load of q serves all.
HWY_INLINE void four_energies(const real* q, const real* const* keys, size_t n, real scale, real* out) {
  const Real d;
  Reals s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  walk(n, [&](size_t i, auto load, auto, auto valid) HWY_ATTR {
    const Reals x = valid(load(q + i));
    s0 = hn::MulAdd(x, load(keys[0] + i), s0);
    s1 = hn::MulAdd(x, load(keys[1] + i), s1);
    s2 = hn::MulAdd(x, load(keys[2] + i), s2);
    s3 = hn::MulAdd(x, load(keys[3] + i), s3);
  });
  out[0] = scale * hn::GetLane(hn::SumOfLanes(d, s0));
  out[1] = scale * hn::GetLane(hn::SumOfLanes(d, s1));
  out[2] = scale * hn::GetLane(hn::SumOfLanes(d, s2));
  out[3] = scale * hn::GetLane(hn::SumOfLanes(d, s3));
}

/// out[0 … 4·kLanes) = Σ w[j]·values[index[j]·D + …], sums in registers.
HWY_INLINE void four_sums(const real* values, size_t D, const int32_t* index, const real* w, size_t count, real* out) {
  const Real d;
  Reals s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (size_t j = 0; j < count; ++j) {
    const real* v = values + static_cast<size_t>(index[j]) * D;
    const Reals x = hn::Set(d, w[j]);
    s0 = hn::MulAdd(x, hn::LoadU(d, v), s0);
    s1 = hn::MulAdd(x, hn::LoadU(d, v + kLanes), s1);
    s2 = hn::MulAdd(x, hn::LoadU(d, v + 2 * kLanes), s2);
    s3 = hn::MulAdd(x, hn::LoadU(d, v + 3 * kLanes), s3);
  }
  hn::StoreU(s0, d, out);
  hn::StoreU(s1, d, out + kLanes);
  hn::StoreU(s2, d, out + 2 * kLanes);
  hn::StoreU(s3, d, out + 3 * kLanes);
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
    real* seen = weights ? weights + (n * p.heads + h) * p.stride : nullptr;
    if (seen) std::fill_n(seen, p.stride, real{0});
    if (count == 0) {
      std::fill_n(context, p.depth, real{0});
      continue;
    }
    for (size_t j = 0; j < count; j += 4) {
      const real* keys[4];  // the last one repeated if fewer are left
      for (size_t c = 0; c < 4; ++c) keys[c] = p.keys + static_cast<size_t>(index[std::min(j + c, count - 1)]) * D + at;
      real four[4];
      four_energies(p.q + n * D + at, keys, p.depth, p.scale, four);
      std::copy_n(four, std::min<size_t>(4, count - j), e + j);
    }
    softmax_of(e, count);
    size_t i = 0;
    for (; i + 4 * kLanes <= p.depth; i += 4 * kLanes) {
      four_sums(p.values + at + i, D, index, e, count, context + i);
    }
    for (; i < p.depth; ++i) {
      real sum = 0;
      for (size_t j = 0; j < count; ++j) sum += e[j] * p.values[static_cast<size_t>(index[j]) * D + at + i];
      context[i] = sum;
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
