// Vector functions: exp, log, tanh, sigmoid, gelu. The float versions are short polynomials fitted for speed; their
// errors are bounded in tests/kernels/math_test.cc. The double versions (grad64) use Highway's, which are accurate.
#if defined(ATTEND_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_MATH_INL_H_
#undef ATTEND_KERNELS_MATH_INL_H_
#else
#define ATTEND_KERNELS_MATH_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>

#include "attend/base/real.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
using TagOf = hn::DFromV<V>;

#ifndef ATTEND_REAL64

/// eˣ, at most 2 ULP; 0 below -87.33 (no denormals), infinity above 88.72.
/// x = n·ln2 + r with |r| ≤ ln2/2, eʳ as a polynomial of degree 6, 2ⁿ added to the exponent.
template <class V>
HWY_INLINE V exp_of(V x) {
  const TagOf<V> d;
  const hn::RebindToUnsigned<TagOf<V>> du;
  const V magic = hn::Set(d, 12582912.0f);  // 1.5·2²³: adding it rounds to a whole number in the low bits
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V p = hn::Set(d, 0.00138145813f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.00836872496f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.041668389f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166665211f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.49999994f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  const V scaled = hn::BitCast(d, hn::Add(hn::BitCast(du, p), hn::ShiftLeft<23>(hn::BitCast(du, shifted))));
  const V finite = hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.72283f)), hn::Set(d, INFINITY), scaled);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.33654f)), finite);
}

/// e^(x − shift) for x ≤ shift, as 2^((x − shift)·log₂e): less work than exp_of, and as good for a softmax. Its
/// relative error is 3e-7 near the shift and grows to 1e-5 at e^-87, which is negligible beside the largest; 0 below.
template <class V>
HWY_INLINE V exp_below(V x, V shift) {
  const TagOf<V> d;
  const hn::RebindToUnsigned<TagOf<V>> du;
  const V magic = hn::Set(d, 12582912.0f);
  const V t = hn::Mul(hn::Sub(x, shift), hn::Set(d, 1.44269504f));
  const V shifted = hn::Add(t, magic);
  const V f = hn::Sub(t, hn::Sub(shifted, magic));  // |f| ≤ 1/2, exact
  V p = hn::Set(d, 0.00133002482f);
  p = hn::MulAdd(p, f, hn::Set(d, 0.00966973108f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.0555055991f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.240222813f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.693147181f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
  const V scaled = hn::BitCast(d, hn::Add(hn::BitCast(du, p), hn::ShiftLeft<23>(hn::BitCast(du, shifted))));
  return hn::IfThenElseZero(hn::Ge(t, hn::Set(d, -125.99f)), scaled);
}

/// tanh x = x·P(x²)/Q(x²), degrees 5 and 4 fitted to relative error 1.3e-9 on |x| ≤ 9.02; at most 7 ULP. For use inside
/// larger kernels: rounding may take it past 1. The order of operands in Max and Min lets a NaN through on x86.
template <class V>
HWY_INLINE V tanh_of_finite(V x) {
  const TagOf<V> d;
  const V limit = hn::Set(d, 9.02f);
  x = hn::Min(limit, hn::Max(hn::Neg(limit), x));
  const V u = hn::Mul(x, x);
  V p = hn::Set(d, -1.22032245e-11f);
  p = hn::MulAdd(p, u, hn::Set(d, 3.05846903e-08f));
  p = hn::MulAdd(p, u, hn::Set(d, 2.800732e-05f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.00386832072f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.136799097f));
  p = hn::MulAdd(p, u, hn::Set(d, 1.0f));
  V q = hn::Set(d, 1.28735689e-06f);
  q = hn::MulAdd(q, u, hn::Set(d, 0.000393861905f));
  q = hn::MulAdd(q, u, hn::Set(d, 0.027245814f));
  q = hn::MulAdd(q, u, hn::Set(d, 0.470132411f));
  q = hn::MulAdd(q, u, hn::Set(d, 1.0f));
  return hn::Div(hn::Mul(x, p), q);
}

/// tanh x, at most 7 ULP, within [-1, 1] and exactly ±1 from ±9.02 on; NaN for NaN.
template <class V>
HWY_INLINE V tanh_of(V x) {
  const TagOf<V> d;
  const V one = hn::Set(d, 1.0f);
  const V y = hn::Min(one, hn::Max(hn::Neg(one), tanh_of_finite(x)));
  return hn::IfThenElse(hn::Ge(hn::Abs(x), hn::Set(d, 9.02f)), hn::CopySign(one, x), y);
}

/// erf(x/√2) = x·P(x²)/Q(x²), degrees 6 and 4 on |x| ≤ 5.5; absolute error below 4e-7.
template <class V>
HWY_INLINE V erf_of_root_half(V x) {
  const TagOf<V> d;
  const V limit = hn::Set(d, 5.5f);
  x = hn::Min(limit, hn::Max(hn::Neg(limit), x));
  const V u = hn::Mul(x, x);
  V p = hn::Set(d, 2.24001068e-10f);
  p = hn::MulAdd(p, u, hn::Set(d, -4.34509069e-08f));
  p = hn::MulAdd(p, u, hn::Set(d, 6.1839437e-06f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.000317722326f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.00887787528f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.0697325617f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.797884524f));
  V q = hn::Set(d, 5.82626853e-05f);
  q = hn::MulAdd(q, u, hn::Set(d, 0.00176610996f));
  q = hn::MulAdd(q, u, hn::Set(d, 0.0284726061f));
  q = hn::MulAdd(q, u, hn::Set(d, 0.254062712f));
  q = hn::MulAdd(q, u, hn::Set(d, 1.0f));
  const V one = hn::Set(d, 1.0f);
  return hn::Min(one, hn::Max(hn::Neg(one), hn::Div(hn::Mul(x, p), q)));
}

#else  // ATTEND_REAL64

template <class V>
HWY_INLINE V exp_of(V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(TagOf<V>(), x));  // Highway's gives a number for NaN
}
template <class V>
HWY_INLINE V exp_below(V x, V shift) {
  return exp_of(hn::Sub(x, shift));
}
template <class V>
HWY_INLINE V tanh_of(V x) {
  return hn::Tanh(TagOf<V>(), x);
}
template <class V>
HWY_INLINE V tanh_of_finite(V x) {
  return tanh_of(x);
}
template <class V>
HWY_INLINE V erf_of_root_half(V x) {
  const TagOf<V> d;
  HWY_ALIGN real lanes[HWY_MAX_BYTES / sizeof(real)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = std::erf(lanes[i] * 0.70710678118654752);
  return hn::Load(d, lanes);
}

#endif  // ATTEND_REAL64

/// ln x, at most 4 ULP (Highway's); -infinity at 0, NaN below.
template <class V>
HWY_INLINE V log_of(V x) {
  const TagOf<V> d;
  const V y = hn::Log(d, x);
  const V at_zero = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, real(-INFINITY)), y);
  const V below = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, real(NAN)), at_zero);
  return hn::IfThenElse(hn::Eq(x, hn::Set(d, real(INFINITY))), x, below);
}

/// 1/(1+e⁻ˣ), at most 4 ULP; 0 below -87.33.
template <class V>
HWY_INLINE V sigmoid_of(V x) {
  const TagOf<V> d;
  const V one = hn::Set(d, real(1));
  return hn::Div(one, hn::Add(one, exp_of(hn::Neg(x))));
}

/// gelu x = x·Φ(x) = x/2·(1 + erf(x/√2)); Hendrycks & Gimpel 2016, exact form.
template <class V>
HWY_INLINE V gelu_of(V x) {
  const TagOf<V> d;
  const V half = hn::Mul(x, hn::Set(d, real(0.5)));
  return hn::MulAdd(half, erf_of_root_half(x), half);
}

/// gelu'(x) = Φ(x) + x·φ(x).
template <class V>
HWY_INLINE V gelu_slope_of(V x) {
  const TagOf<V> d;
  const V half = hn::Set(d, real(0.5));
  const V phi =
      hn::Mul(exp_below(hn::Mul(hn::Mul(x, x), hn::Neg(half)), hn::Zero(d)), hn::Set(d, real(0.398942280401432678)));
  return hn::MulAdd(x, phi, hn::MulAdd(half, erf_of_root_half(x), half));
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#endif
