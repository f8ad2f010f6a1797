#include "attend/kernels/spectrum.h"

#include <cmath>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/spectrum.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lane = hn::CappedTag<float, kSpectrumLanes>;  // floats in every build
using LaneVec = hn::Vec<Lane>;

constexpr size_t kComplex = 2 * kSpectrumLanes;  // real parts of all signals, then imaginary parts

struct ComplexVec {
  LaneVec re, im;
};

HWY_INLINE ComplexVec load_complex(const float* x) {
  const Lane d;
  return {hn::LoadU(d, x), hn::LoadU(d, x + kSpectrumLanes)};
}
HWY_INLINE void store_complex(const ComplexVec& z, float* x) {
  const Lane d;
  hn::StoreU(z.re, d, x);
  hn::StoreU(z.im, d, x + kSpectrumLanes);
}
HWY_INLINE ComplexVec plus(const ComplexVec& a, const ComplexVec& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
HWY_INLINE ComplexVec minus(const ComplexVec& a, const ComplexVec& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
/// i·a
HWY_INLINE ComplexVec turned(const ComplexVec& a) { return {hn::Neg(a.im), a.re}; }
HWY_INLINE ComplexVec times(const ComplexVec& a, const float* w) {
  const Lane d;
  const LaneVec re = hn::Set(d, w[0]), im = hn::Set(d, w[1]);
  return {hn::NegMulAdd(a.im, im, hn::Mul(a.re, re)), hn::MulAdd(a.im, re, hn::Mul(a.re, im))};
}

/// One stage: transforms of length n of which `stride` are interleaved become four times as many of a quarter of the length.
HWY_INLINE void QuarterStage(size_t n, size_t stride, const float* twiddles, const float* x, float* y) {
  const size_t m = n / 4, lanes = hn::Lanes(Lane());
  for (size_t p = 0; p < m; ++p, twiddles += 6) {
    const float* from = x + kComplex * stride * p;
    float* to = y + kComplex * stride * 4 * p;
    for (size_t q = 0; q < stride; ++q, from += kComplex, to += kComplex) {
      for (size_t v = 0; v < kSpectrumLanes; v += lanes) {
        const size_t apart = kComplex * stride * m, step = kComplex * stride;
        const ComplexVec a = load_complex(from + v), b = load_complex(from + apart + v),
                         c = load_complex(from + 2 * apart + v), e = load_complex(from + 3 * apart + v);
        const ComplexVec ac = plus(a, c), be = plus(b, e), a_c = minus(a, c), jb_e = turned(minus(b, e));
        store_complex(plus(ac, be), to + v);
        store_complex(times(minus(a_c, jb_e), twiddles), to + step + v);
        store_complex(times(minus(ac, be), twiddles + 2), to + 2 * step + v);
        store_complex(times(plus(a_c, jb_e), twiddles + 4), to + 3 * step + v);
      }
    }
  }
}

/// The last stage where the length is not a power of four.
HWY_INLINE void HalfStage(size_t stride, const float* x, float* y) {
  const size_t lanes = hn::Lanes(Lane());
  for (size_t at = 0; at < kComplex * stride; at += kComplex) {
    for (size_t v = 0; v < kSpectrumLanes; v += lanes) {
      const ComplexVec a = load_complex(x + at + v), b = load_complex(x + at + kComplex * stride + v);
      store_complex(plus(a, b), y + at + v);
      store_complex(minus(a, b), y + at + kComplex * stride + v);
    }
  }
}

HWY_INLINE LaneVec power_of(const ComplexVec& z) { return hn::MulAdd(z.re, z.re, hn::Mul(z.im, z.im)); }

/// The spectrum of 2m real numbers from that of m complex ones: with e = (z[k] + z̄[m−k])/2 and o = (z[k] − z̄[m−k])/2i,
/// X[k] = e + w[k]·o and X[m−k] = conj(e − w[k]·o).
HWY_INLINE void PowerOfHalves(size_t m, const float* halves, const float* z, float* power) {
  const Lane d;
  const size_t lanes = hn::Lanes(d);
  const LaneVec half = hn::Set(d, 0.5F);
  for (size_t k = 0; 2 * k <= m; ++k) {
    for (size_t v = 0; v < kSpectrumLanes; v += lanes) {
      const ComplexVec a = load_complex(z + kComplex * k + v), b = load_complex(z + kComplex * ((m - k) % m) + v);
      const ComplexVec e = {hn::Mul(half, hn::Add(a.re, b.re)), hn::Mul(half, hn::Sub(a.im, b.im))};
      const ComplexVec o = {hn::Mul(half, hn::Add(a.im, b.im)), hn::Mul(half, hn::Sub(b.re, a.re))};
      const ComplexVec w = times(o, halves + 2 * k);
      hn::StoreU(power_of(plus(e, w)), d, power + kSpectrumLanes * k + v);
      hn::StoreU(power_of(minus(e, w)), d, power + kSpectrumLanes * (m - k) + v);
    }
  }
}

void PowerSpectra(const SpectrumPlan& plan, const float* signals, float* room, float* power) {
  const size_t m = plan.points() / 2;
  const float *twiddles = plan.stages().data(), *x = signals;
  float* y = room;
  size_t n = m, stride = 1;
  const auto swap = [&] {
    x = y;
    y = y == room ? room + kComplex * m : room;
  };
  for (; n >= 4; n /= 4, stride *= 4) {
    QuarterStage(n, stride, twiddles, x, y);
    twiddles += 6 * (n / 4);
    swap();
  }
  if (n == 2) {
    HalfStage(stride, x, y);
    swap();
  }
  PowerOfHalves(m, plan.halves().data(), x, power);
}

void LogBands(const std::vector<Band>& bands, const std::vector<float>& weights, const float* power, float least,
              float* logs) {
  const Lane d;
  const size_t lanes = hn::Lanes(d);
  for (const Band& band : bands) {
    for (size_t v = 0; v < kSpectrumLanes; v += lanes) {
      const float *p = power + kSpectrumLanes * band.begin + v, *w = weights.data() + band.first;
      LaneVec sum = hn::Zero(d);
      for (size_t k = 0; k < band.count; ++k, p += kSpectrumLanes)
        sum = hn::MulAdd(hn::Set(d, w[k]), hn::LoadU(d, p), sum);
      hn::StoreU(hn::Log(d, hn::Add(sum, hn::Set(d, least))), d, logs + v);
    }
    logs += kSpectrumLanes;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(PowerSpectra);
HWY_EXPORT(LogBands);

bool SpectrumPlan::possible(size_t points) { return points >= 8 && (points & (points - 1)) == 0; }

SpectrumPlan::SpectrumPlan(size_t points) : points_(points) {
  const auto add = [](std::vector<float>& to, size_t k, size_t n) {
    const double turn = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    to.push_back(static_cast<float>(std::cos(turn)));
    to.push_back(static_cast<float>(std::sin(turn)));
  };
  for (size_t n = points / 2; n >= 4; n /= 4) {
    for (size_t p = 0; p < n / 4; ++p) {
      for (size_t k = 1; k <= 3; ++k) add(stages_, k * p, n);
    }
  }
  for (size_t k = 0; k <= points / 4; ++k) add(halves_, k, points);
}

void power_spectra(const SpectrumPlan& plan, const float* signals, float* room, float* power) {
  HWY_DYNAMIC_DISPATCH(PowerSpectra)(plan, signals, room, power);
}

void log_bands(const std::vector<Band>& bands, const std::vector<float>& weights, const float* power, float least,
               float* logs) {
  HWY_DYNAMIC_DISPATCH(LogBands)(bands, weights, power, least, logs);
}

}  // namespace attend::kernels
#endif
