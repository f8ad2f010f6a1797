#include "attend/kernels/additive.h"

#include <algorithm>

#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/additive.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/math-inl.h"
#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Queries that share each load of a key (and of its gradient).
constexpr size_t kQueries = 2;

template <size_t Q>
void energies_of(const AdditiveProblem& p, const real* q, const real* k, real* out) {
  const size_t H = p.hidden;
  for (size_t j = 0; j < p.keys; ++j) {
    Reals sums[Q];
    for (size_t i = 0; i < Q; ++i) sums[i] = hn::Zero(Real());
    walk(H, [&](size_t h, auto load, auto, auto valid) HWY_ATTR {
      const Reals key = load(k + j * H + h), v = valid(load(p.v + h));
      for (size_t i = 0; i < Q; ++i)
        sums[i] = hn::MulAdd(v, tanh_of_finite(hn::Add(load(q + i * H + h), key)), sums[i]);
    });
    for (size_t i = 0; i < Q; ++i) out[i * p.keys + j] = hn::GetLane(hn::SumOfLanes(Real(), sums[i]));
  }
}

void AdditiveForward(const AdditiveProblem& p, real* energies) {
  const size_t groups = (p.queries + kQueries - 1) / kQueries, H = p.hidden;
  parallel_ranges<1>(p.batch * groups, std::max<size_t>(1, (size_t{16} << 10) / (kQueries * p.keys * H + 1)),
                     [&](size_t begin, size_t end) {
                       for (size_t task = begin; task < end; ++task) {
                         const size_t b = task / groups, i = task % groups * kQueries, row = b * p.queries + i;
                         const real *q = p.q + row * H, *k = p.k + b * p.keys * H;
                         real* out = energies + row * p.keys;
                         if (p.queries - i >= kQueries) {
                           energies_of<kQueries>(p, q, k, out);
                         } else {
                           energies_of<1>(p, q, k, out);
                         }
                       }
                     });
}

/// For Q queries and all keys, one vector of units at a time: s = de·v∘(1 − t²) goes to dq and dk, de·t to dv.
template <size_t Q>
void gradients_of(const AdditiveProblem& p, const real* q, const real* k, const real* de, real* dq, real* dk,
                  real* dv) {
  const size_t H = p.hidden;
  walk(H, [&](size_t h, auto load, auto store, auto) HWY_ATTR {
    const Real d;
    const Reals v = load(p.v + h);
    Reals query[Q], sum[Q], dv_sum = load(dv + h);
    for (size_t i = 0; i < Q; ++i) {
      query[i] = load(q + i * H + h);
      sum[i] = hn::Zero(d);
    }
    for (size_t j = 0; j < p.keys; ++j) {
      const Reals key = load(k + j * H + h);
      Reals dk_sum = hn::Zero(d);
      for (size_t i = 0; i < Q; ++i) {
        const Reals t = tanh_of_finite(hn::Add(query[i], key)), e = hn::Set(d, de[i * p.keys + j]);
        const Reals te = hn::Mul(t, e), slope = hn::NegMulAdd(te, t, e);  // e·(1 − t²)
        sum[i] = hn::Add(sum[i], slope);
        dk_sum = hn::Add(dk_sum, slope);
        dv_sum = hn::Add(dv_sum, te);
      }
      store(hn::MulAdd(dk_sum, v, load(dk + j * H + h)), dk + j * H + h);
    }
    for (size_t i = 0; i < Q; ++i) store(hn::Mul(sum[i], v), dq + i * H + h);
    store(dv_sum, dv + h);
  });
}

void AdditiveBackward(const AdditiveProblem& p, const real* de, real* dq, real* dk, real* dv) {
  const size_t H = p.hidden;
  const memory::Scratch partial(p.batch * H);  // dv of each sentence, summed in order at the end
  parallel_for(p.batch, [&](size_t b) {
    const real *q = p.q + b * p.queries * H, *k = p.k + b * p.keys * H, *e = de + b * p.queries * p.keys;
    real *gq = dq + b * p.queries * H, *gk = dk + b * p.keys * H, *gv = partial.data() + b * H;
    std::fill_n(gv, H, real{0});
    size_t i = 0;
    for (; i + kQueries <= p.queries; i += kQueries) {
      gradients_of<kQueries>(p, q + i * H, k, e + i * p.keys, gq + i * H, gk, gv);
    }
    for (; i < p.queries; ++i) gradients_of<1>(p, q + i * H, k, e + i * p.keys, gq + i * H, gk, gv);
  });
  sum_columns(partial.data(), p.batch, H, dv, true);
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AdditiveForward);
HWY_EXPORT(AdditiveBackward);

void additive_forward(const AdditiveProblem& p, real* energies) { HWY_DYNAMIC_DISPATCH(AdditiveForward)(p, energies); }

void additive_backward(const AdditiveProblem& p, const real* de, real* dq, real* dk, real* dv) {
  HWY_DYNAMIC_DISPATCH(AdditiveBackward)(p, de, dq, dk, dv);
}

}  // namespace attend::kernels
#endif
