#include "attend/kernels/divergence.h"

#include <algorithm>

#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/divergence.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/math-inl.h"
#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Elements per task: below this, one thread is done before another has started.
constexpr size_t kDivergenceGrain = size_t{16} << 10;

template <class Body>
void over_pairs(const Divergence& x, Body&& body) {
  const size_t per_task = std::max<size_t>(1, kDivergenceGrain / std::max<size_t>(1, x.n));
  parallel_ranges<1>(x.rows, per_task, [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) body(r, x.a + r * x.n, x.b + r * x.n);
  });
}

void DivergenceForward(const Divergence& x, real* there, real* back) {
  over_pairs(x, [&](size_t r, const real* a, const real* b) {
    there[r] = back[r] = 0;
    if (x.targets[r] == x.ignored) return;
    const Reals as = hn::Set(Real(), x.a_log_sum[r]), bs = hn::Set(Real(), x.b_log_sum[r]);
    Reals by_p = hn::Zero(Real()), by_q = by_p;
    walk(x.n, [&](size_t i, auto load, auto, auto valid) HWY_ATTR {
      const Reals u = load(a + i), v = load(b + i);
      const Reals d = valid(hn::Sub(hn::Sub(u, as), hn::Sub(v, bs)));
      by_p = hn::MulAdd(exp_below(u, as), d, by_p);
      by_q = hn::NegMulAdd(exp_below(v, bs), d, by_q);
    });
    there[r] = hn::GetLane(hn::SumOfLanes(Real(), by_p));
    back[r] = hn::GetLane(hn::SumOfLanes(Real(), by_q));
  });
}

void DivergenceBackward(const Divergence& x, const real* there, const real* back, real scale, real* da, real* db) {
  over_pairs(x, [&](size_t r, const real* a, const real* b) {
    if (x.targets[r] == x.ignored) return;
    const Reals as = hn::Set(Real(), x.a_log_sum[r]), bs = hn::Set(Real(), x.b_log_sum[r]), by = hn::Set(Real(), scale);
    const Reals to_q = hn::Set(Real(), there[r]), to_p = hn::Set(Real(), back[r]);
    real *ga = da + r * x.n, *gb = db + r * x.n;
    walk(x.n, [&](size_t i, auto load, auto store, auto) HWY_ATTR {
      const Reals u = load(a + i), v = load(b + i);
      const Reals d = hn::Sub(hn::Sub(u, as), hn::Sub(v, bs));
      const Reals p = exp_below(u, as), q = exp_below(v, bs), apart = hn::Sub(p, q);
      store(hn::MulAdd(by, hn::MulAdd(p, hn::Sub(d, to_q), apart), load(ga + i)), ga + i);
      store(hn::NegMulAdd(by, hn::MulAdd(q, hn::Add(d, to_p), apart), load(gb + i)), gb + i);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(DivergenceForward);
HWY_EXPORT(DivergenceBackward);

void divergence(const Divergence& problem, real* there, real* back) {
  HWY_DYNAMIC_DISPATCH(DivergenceForward)(problem, there, back);
}

void divergence_backward(const Divergence& problem, const real* there, const real* back, real scale, real* da,
                         real* db) {
  HWY_DYNAMIC_DISPATCH(DivergenceBackward)(problem, there, back, scale, da, db);
}

}  // namespace attend::kernels
#endif
