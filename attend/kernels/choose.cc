#include "attend/kernels/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/choose.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/math-inl.h"
#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Elements per task: below this, one thread is done before another has started.
constexpr size_t kChooseGrain = size_t{16} << 10;
// Elements whose maximum is found before any is examined: few blocks hold one that can be chosen.
constexpr size_t kBlock = 64;
constexpr real kNothing = -std::numeric_limits<real>::infinity();

HWY_INLINE real largest_of(const real* x, size_t n) {
  const Real d;
  Reals m0 = hn::Set(d, kNothing), m1 = m0;
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    m0 = hn::Max(m0, hn::LoadU(d, x + i));
    m1 = hn::Max(m1, hn::LoadU(d, x + i + kLanes));
  }
  walk(n - i, [&](size_t j, auto load, auto, auto) HWY_ATTR { m0 = hn::Max(m0, load(x + i + j)); });
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(m0, m1)));
}

/// Σ e^(x − shift).
HWY_INLINE real sum_of_exp(const real* x, size_t n, real shift) {
  const Real d;
  const Reals top = hn::Set(d, shift);
  Reals s0 = hn::Zero(d), s1 = s0;
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    s0 = hn::Add(s0, exp_below(hn::LoadU(d, x + i), top));
    s1 = hn::Add(s1, exp_below(hn::LoadU(d, x + i + kLanes), top));
  }
  walk(n - i, [&](size_t j, auto load, auto, auto valid)
                  HWY_ATTR { s0 = hn::Add(s0, valid(exp_below(load(x + i + j), top))); });
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
}

void choose_from_row(const real* x, size_t n, size_t k, const int32_t* banned, const int32_t* banned_end,
                     double* log_sum, real* largest, int32_t* place) {
  std::fill_n(largest, k, kNothing);
  std::fill_n(place, k, -1);
  real top = kNothing;
  size_t top_block = 0;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = std::min(n, begin + kBlock);
    const real block_top = largest_of(x + begin, end - begin);
    if (block_top > top) top = block_top, top_block = begin;
    if (k == 0 || !(block_top > largest[k - 1])) continue;
    for (size_t i = begin; i < end; ++i) {
      if (!(x[i] > largest[k - 1])) continue;
      const int32_t id = static_cast<int32_t>(i);
      if (std::find(banned, banned_end, id) != banned_end) continue;
      size_t at = k - 1;
      for (; at > 0 && x[i] > largest[at - 1]; --at) largest[at] = largest[at - 1], place[at] = place[at - 1];
      largest[at] = x[i], place[at] = id;
    }
  }
  const size_t at = static_cast<size_t>(std::find(x + top_block, x + std::min(n, top_block + kBlock), top) - x);
  const size_t after = std::min(n, at + 1);
  const real others = sum_of_exp(x, at, top) + sum_of_exp(x + after, n - after, top);
  *log_sum = static_cast<double>(top) + std::log1p(static_cast<double>(others));
}

void Choose(const Choices& p, double* log_sum, real* largest, int32_t* place) {
  const size_t per_task = std::max<size_t>(1, kChooseGrain / std::max<size_t>(1, p.n));
  parallel_ranges<1>(p.rows, per_task, [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) {
      const int32_t* banned = p.banned ? p.banned + p.banned_from[r] : nullptr;
      const int32_t* banned_end = p.banned ? p.banned + p.banned_from[r + 1] : nullptr;
      choose_from_row(p.logits + r * p.n, p.n, p.k, banned, banned_end, log_sum + r, largest + r * p.k,
                      place + r * p.k);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Choose);

void choose(const Choices& problem, double* log_sum, real* largest, int32_t* place) {
  HWY_DYNAMIC_DISPATCH(Choose)(problem, log_sum, largest, place);
}

}  // namespace attend::kernels
#endif
