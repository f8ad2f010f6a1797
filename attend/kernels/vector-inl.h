// How a kernel walks over memory: whole vectors, then the rest through a padded copy, so that every element goes through
// the same instructions wherever it lies (results do not depend on how work is split).
#if defined(ATTEND_KERNELS_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_VECTOR_INL_H_
#undef ATTEND_KERNELS_VECTOR_INL_H_
#else
#define ATTEND_KERNELS_VECTOR_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"
#include "attend/kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// An output this large will have left the caches by the time it is read: it is written past them, which saves reading
// each line before it is overwritten (measured on Zen 3: copy 31 → 49 GB/s).
constexpr size_t kStreamBytes = size_t{16} << 20;

HWY_INLINE bool streams(const real* out, size_t whole) {
  return whole * sizeof(real) >= kStreamBytes && reinterpret_cast<uintptr_t>(out) % HWY_MAX_BYTES == 0;
}

/// Loads the first `count` lanes; the others repeat the first element, which every function accepts.
HWY_INLINE Reals load_some(const real* x, size_t count) {
  const Real d;
  HWY_ALIGN real lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = x[i < count ? i : 0];
  return hn::Load(d, lanes);
}

HWY_INLINE void store_some(Reals v, real* out, size_t count) {
  const Real d;
  HWY_ALIGN real lanes[kLanes];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < count; ++i) out[i] = lanes[i];
}

/// Runs f(i, load, store, valid) over [0, n) a vector at a time. In the last, partial vector `load(p)` repeats its first
/// element, `store(v, p)` writes only what lies within n, and `valid(v)` zeroes the rest, for sums.
template <class Function>
HWY_INLINE void walk(size_t n, Function f) {
  const Real d;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    f(
        i, [](const real* p) HWY_ATTR { return hn::LoadU(Real(), p); },
        [](Reals v, real* p) HWY_ATTR { hn::StoreU(v, Real(), p); }, [](Reals v) HWY_ATTR { return v; });
  }
  if (i < n) {
    const size_t rest = n - i;
    f(
        i, [rest](const real* p) HWY_ATTR { return load_some(p, rest); },
        [rest](Reals v, real* p) HWY_ATTR { store_some(v, p, rest); },
        [rest, d](Reals v) HWY_ATTR { return hn::IfThenElseZero(hn::FirstN(d, rest), v); });
  }
}

/// out[i] = f(d, i, load) for i in [0, n), a vector at a time; `load(d, p)` reads what f needs at p.
/// `whole` is the size of the entire output, which decides whether it is written past the caches.
template <class Function>
HWY_INLINE void map_range(real* out, size_t n, size_t whole, Function f) {
  const Real d;
  const auto full = [](Real tag, const real* p) HWY_ATTR { return hn::LoadU(tag, p); };
  size_t i = 0;
  if (streams(out, whole)) {
    for (; i + kLanes <= n; i += kLanes) hn::Stream(f(d, i, full), d, out + i);
    hwy::FlushStream();
  } else {
    for (; i + kLanes <= n; i += kLanes) hn::StoreU(f(d, i, full), d, out + i);
  }
  if (i < n) {
    const size_t rest = n - i;
    store_some(f(d, i, [rest](Real, const real* p) HWY_ATTR { return load_some(p, rest); }), out + i, rest);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#endif
