#include "attend/kernels/ctc.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/base/log_add.h"
#include "attend/base/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/ctc.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/math-inl.h"
#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Logs = hn::ScalableTag<double>;

// ln 0, finite: −∞ − (−∞) is no number. Sums of thousands of them remain finite, and the exponential of any is 0.
constexpr double kCtcZero = -1e30;
// Rows are padded to a multiple of the longest vector with states that cannot be reached.
constexpr size_t kCtcPadding = 16;

/// ln(eᵃ + eᵇ + eᶜ).
HWY_INLINE hn::Vec<Logs> log_sum_of(hn::Vec<Logs> a, hn::Vec<Logs> b, hn::Vec<Logs> c) {
  const Logs d;
  const auto top = hn::Max(a, hn::Max(b, c));
  const auto sum =
      hn::Add(hn::Exp(d, hn::Sub(a, top)), hn::Add(hn::Exp(d, hn::Sub(b, top)), hn::Exp(d, hn::Sub(c, top))));
  return hn::Add(top, hn::Log(d, sum));
}

/// Rows of one sequence, with two states before the first and after the last that cannot be reached.
class CtcLattice {
 public:
  explicit CtcLattice(const CtcPaths& paths)
      : paths_(paths),
        width_((paths.count + kCtcPadding - 1) / kCtcPadding * kCtcPadding),
        skips_(width_ + 2, kCtcZero),
        emissions_(width_, kCtcZero),
        alpha_((paths.frames * width_ * sizeof(double) + sizeof(real) - 1) / sizeof(real)) {
    // Over a blank that is not needed, from state s − 2.
    for (size_t s = 3; s < paths.count; s += 2) {
      if (paths.states[s] != paths.states[s - 2]) skips_[s] = 0;
    }
  }

  /// Fills α, where α[t,s] is the logarithm of the probability of frames 0 … t that end in state s.
  double forward() {
    const Logs d;
    const size_t S = paths_.count;
    std::vector<double> padded(width_ + 2, kCtcZero);
    double* before = padded.data() + 2;
    emit(0);
    for (size_t s = 0; s < std::min<size_t>(2, S); ++s) before[s] = emissions_[s];
    std::copy_n(before, width_, alpha(0));
    for (size_t t = 1; t < paths_.frames; ++t) {
      emit(t);
      double* now = alpha(t);
      for (size_t s = 0; s < width_; s += hn::Lanes(d)) {
        const auto skipped = hn::Add(hn::LoadU(d, before + s - 2), hn::LoadU(d, skips_.data() + s));
        const auto reached = log_sum_of(hn::LoadU(d, before + s), hn::LoadU(d, before + s - 1), skipped);
        hn::StoreU(hn::Add(reached, hn::LoadU(d, emissions_.data() + s)), d, now + s);
      }
      std::copy_n(now, width_, before);
    }
    if (broken_) return NAN;  // Highway's exponential of it would be a number
    const double p = S == 1 ? before[0] : log_add(before[S - 1], before[S - 2]);
    return p < kCtcZero / 2 ? kLogZero : p;
  }

  /// e^(α + β − ln p), where β[t,s] is the logarithm of the probability of frames t+1 … from state s.
  void occupancy(double log_p, real* out) {
    const Logs d;
    const size_t S = paths_.count;
    std::vector<double> beta(width_, kCtcZero), after(width_ + 2, kCtcZero);
    for (size_t s = S - std::min<size_t>(2, S); s < S; ++s) beta[s] = 0;
    const auto all = hn::Set(d, log_p);
    for (size_t t = paths_.frames; t-- > 0;) {
      emit(t);
      double* shares = alpha(t);
      for (size_t s = 0; s < width_; s += hn::Lanes(d)) {
        const auto b = hn::LoadU(d, beta.data() + s);
        hn::StoreU(hn::Exp(d, hn::Sub(hn::Add(hn::LoadU(d, shares + s), b), all)), d, shares + s);
        hn::StoreU(hn::Add(b, hn::LoadU(d, emissions_.data() + s)), d, after.data() + s);
      }
      for (size_t s = 0; s < S; ++s) out[t * S + s] = static_cast<real>(shares[s]);
      for (size_t s = 0; s < width_; s += hn::Lanes(d)) {
        const auto skipped = hn::Add(hn::LoadU(d, after.data() + s + 2), hn::LoadU(d, skips_.data() + s + 2));
        hn::StoreU(log_sum_of(hn::LoadU(d, after.data() + s), hn::LoadU(d, after.data() + s + 1), skipped), d,
                   beta.data() + s);
      }
    }
  }

 private:
  double* alpha(size_t t) const { return reinterpret_cast<double*>(alpha_.data()) + t * width_; }

  /// ln p of each state's label in frame t.
  void emit(size_t t) {
    const real* x = paths_.logits + t * paths_.stride;
    const double log_sum = static_cast<double>(paths_.log_sums[t * paths_.sum_stride]);
    for (size_t s = 0; s < paths_.count; ++s) {
      const double log_p = static_cast<double>(x[paths_.states[s]]) - log_sum;
      emissions_[s] = log_p < kCtcZero ? kCtcZero : log_p;
      broken_ = broken_ || std::isnan(log_p);
    }
  }

  const CtcPaths& paths_;
  size_t width_;
  bool broken_ = false;  // a logit is no number
  std::vector<double> skips_, emissions_;
  memory::Scratch alpha_;  // [frames,width] of doubles
};

double PathsOf(const CtcPaths& paths, real* occupancy) {
  if (paths.frames == 0) return paths.count == 1 ? 0 : kLogZero;
  CtcLattice lattice(paths);
  const double log_p = lattice.forward();
  if (!occupancy || log_p == kLogZero) return log_p;
  if (std::isnan(log_p)) {
    std::fill_n(occupancy, paths.frames * paths.count, real(NAN));
  } else {
    lattice.occupancy(log_p, occupancy);
  }
  return log_p;
}

void GradientOf(const real* logits, real log_sum, size_t n, const int32_t* states, const real* occupancy, size_t count,
                real scale, real* dx) {
  const Real d;
  const Reals shift = hn::Set(d, log_sum), factor = hn::Set(d, scale);
  walk(n, [&](size_t i, auto load, auto store, auto)
              HWY_ATTR { store(hn::Mul(factor, exp_below(load(logits + i), shift)), dx + i); });
  for (size_t s = 0; s < count; ++s) dx[states[s]] -= scale * occupancy[s];
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(PathsOf);
HWY_EXPORT(GradientOf);

double ctc_paths(const CtcPaths& paths, real* occupancy) { return HWY_DYNAMIC_DISPATCH(PathsOf)(paths, occupancy); }

void ctc_gradient(const real* logits, real log_sum, size_t n, const int32_t* states, const real* occupancy,
                  size_t count, real scale, real* dx) {
  HWY_DYNAMIC_DISPATCH(GradientOf)(logits, log_sum, n, states, occupancy, count, scale, dx);
}

}  // namespace attend::kernels
#endif
