#include "attend/kernels/group_norm.h"

#include <cmath>
#include <limits>

#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/group_norm.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE double total(Reals v) { return static_cast<double>(hn::GetLane(hn::SumOfLanes(Real(), v))); }

HWY_INLINE double sum_of(const real* x, size_t n) {
  const Real d;
  Reals s0 = hn::Zero(d), s1 = s0;
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    s0 = hn::Add(s0, hn::LoadU(d, x + i));
    s1 = hn::Add(s1, hn::LoadU(d, x + i + kLanes));
  }
  walk(n - i, [&](size_t j, auto load, auto, auto valid) HWY_ATTR { s0 = hn::Add(s0, valid(load(x + i + j))); });
  return total(hn::Add(s0, s1));
}

/// Σ (x − mean)².
HWY_INLINE double squares_of(const real* x, size_t n, real mean) {
  const Real d;
  const Reals m = hn::Set(d, mean);
  Reals s0 = hn::Zero(d), s1 = s0;
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const Reals a = hn::Sub(hn::LoadU(d, x + i), m), b = hn::Sub(hn::LoadU(d, x + i + kLanes), m);
    s0 = hn::MulAdd(a, a, s0);
    s1 = hn::MulAdd(b, b, s1);
  }
  walk(n - i, [&](size_t j, auto load, auto, auto valid) HWY_ATTR {
    const Reals a = valid(hn::Sub(load(x + i + j), m));
    s0 = hn::MulAdd(a, a, s0);
  });
  return total(hn::Add(s0, s1));
}

void Forward(const GroupNorm& g, const real* x, const real* gain, const real* bias, real* y, real* mean, real* rstd) {
  const size_t per_group = g.channels / g.groups, n = per_group * g.pixels;
  parallel_for(g.batch * g.groups, [&](size_t row) HWY_ATTR {
    const Real d;
    const real* in = x + row * n;
    double sum = 0, squares = 0;
    for (size_t c = 0; c < per_group; ++c) sum += sum_of(in + c * g.pixels, g.pixels);
    mean[row] = static_cast<real>(sum / static_cast<double>(n));
    for (size_t c = 0; c < per_group; ++c) squares += squares_of(in + c * g.pixels, g.pixels, mean[row]);
    rstd[row] = static_cast<real>(1 / std::sqrt(squares / static_cast<double>(n) + static_cast<double>(g.epsilon)));
    for (size_t c = 0; c < per_group; ++c) {
      const size_t channel = row % g.groups * per_group + c;
      const real scale = gain[channel] * rstd[row];
      const Reals times = hn::Set(d, scale), plus = hn::Set(d, bias[channel] - mean[row] * scale);
      const Reals least = hn::Set(d, g.relu ? real{0} : -std::numeric_limits<real>::infinity());
      const real* from = in + c * g.pixels;
      map_range(y + row * n + c * g.pixels, g.pixels, 0, [&](Real tag, size_t i, auto load) HWY_ATTR {
        return hn::Max(hn::MulAdd(load(tag, from + i), times, plus), least);
      });
    }
  });
}

/// One channel of one image, as its gradient needs it.
struct Plane {
  const real *dy, *x;
  size_t pixels;
  real mean, rstd, gain, bias;
  bool relu;
};

/// dy, 0 where the relu has cut; `hat` is x̂ there.
template <class Load>
HWY_INLINE Reals passed(const Plane& p, Load load, size_t i, Reals hat) {
  const Real d;
  const Reals dy = load(p.dy + i);
  if (!p.relu) return dy;
  return hn::IfThenElseZero(hn::Gt(hn::MulAdd(hat, hn::Set(d, p.gain), hn::Set(d, p.bias)), hn::Zero(d)), dy);
}

template <class Load>
HWY_INLINE Reals hat_of(const Plane& p, Load load, size_t i) {
  const Real d;
  return hn::Mul(hn::Sub(load(p.x + i), hn::Set(d, p.mean)), hn::Set(d, p.rstd));
}

struct PlaneSums {
  double given = 0, along = 0;  // Σ dy, Σ dy∘x̂
};

HWY_INLINE PlaneSums sums_of(const Plane& p) {
  const Real d;
  Reals given = hn::Zero(d), along = given;
  walk(p.pixels, [&](size_t i, auto load, auto, auto valid) HWY_ATTR {
    const Reals hat = hat_of(p, load, i), dy = valid(passed(p, load, i, hat));
    given = hn::Add(given, dy);
    along = hn::MulAdd(dy, hat, along);
  });
  return {total(given), total(along)};
}

void Backward(const GroupNorm& g, const real* dy, const real* x, const real* gain, const real* bias, const real* mean,
              const real* rstd, real* dx, real* dgain, real* dbias) {
  const size_t per_group = g.channels / g.groups, n = per_group * g.pixels, planes = g.batch * g.channels;
  const memory::Scratch sums(2 * planes);
  real *given = sums.data(), *along = given + planes;
  parallel_for(g.batch * g.groups, [&](size_t row) HWY_ATTR {
    const auto plane = [&](size_t c) {
      const size_t channel = row % g.groups * per_group + c, at = row * n + c * g.pixels;
      return Plane{dy + at, x + at, g.pixels, mean[row], rstd[row], gain[channel], bias[channel], g.relu};
    };
    PlaneSums whole;
    for (size_t c = 0; c < per_group; ++c) {
      const Plane p = plane(c);
      const PlaneSums s = sums_of(p);
      given[row * per_group + c] = static_cast<real>(s.given);
      along[row * per_group + c] = static_cast<real>(s.along);
      whole.given += s.given * static_cast<double>(p.gain);
      whole.along += s.along * static_cast<double>(p.gain);
    }
    if (!dx) return;
    const Real d;
    const Reals shift = hn::Set(d, static_cast<real>(whole.given / static_cast<double>(n))),
                slope = hn::Set(d, static_cast<real>(whole.along / static_cast<double>(n)));
    for (size_t c = 0; c < per_group; ++c) {
      const Plane p = plane(c);
      real* to = dx + row * n + c * g.pixels;
      const Reals times = hn::Set(d, p.gain), scale = hn::Set(d, p.rstd);
      walk(p.pixels, [&](size_t i, auto load, auto store, auto) HWY_ATTR {
        const Reals hat = hat_of(p, load, i);
        const Reals own = hn::MulSub(passed(p, load, i, hat), times, shift);
        store(hn::Mul(hn::NegMulAdd(hat, slope, own), scale), to + i);
      });
    }
  });
  for (size_t b = 0; b < g.batch; ++b) {
    for (size_t c = 0; c < g.channels; ++c) {
      if (dgain) dgain[c] += along[b * g.channels + c];
      if (dbias) dbias[c] += given[b * g.channels + c];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

void group_norm(const GroupNorm& g, const real* x, const real* gain, const real* bias, real* y, real* mean,
                real* rstd) {
  HWY_DYNAMIC_DISPATCH(Forward)(g, x, gain, bias, y, mean, rstd);
}

void group_norm_backward(const GroupNorm& g, const real* dy, const real* x, const real* gain, const real* bias,
                         const real* mean, const real* rstd, real* dx, real* dgain, real* dbias) {
  HWY_DYNAMIC_DISPATCH(Backward)(g, dy, x, gain, bias, mean, rstd, dx, dgain, dbias);
}

}  // namespace attend::kernels
#endif
