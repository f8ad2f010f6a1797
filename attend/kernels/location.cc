#include "attend/kernels/location.h"

#include <algorithm>

#include "attend/base/memory.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/location.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/math-inl.h"
#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Keys that share each load of the query, of v and of the location matrix.
constexpr size_t kLocationKeys = 4;

/// [rows,n] with `reach` zeros on both sides of each row.
class PaddedRows {
 public:
  PaddedRows(const real* x, size_t rows, size_t n, size_t reach) : width_(n + 2 * reach), padded_(rows * width_) {
    for (size_t r = 0; r < rows; ++r) {
      real* to = padded_.data() + r * width_;
      std::fill_n(to, reach, real{0});
      std::copy_n(x + r * n, n, to + reach);
      std::fill_n(to + reach + n, reach, real{0});
    }
  }
  const real* row(size_t r) const { return padded_.data() + r * width_; }

 private:
  size_t width_;
  memory::Scratch padded_;
};

/// out[j] += Σ_d taps[d]·x[j + d], or with taps backwards.
template <bool kBackwards>
void convolve(const real* x, const real* taps, size_t count, size_t n, real* out) {
  walk(n, [&](size_t j, auto load, auto store, auto) HWY_ATTR {
    Reals sum = load(out + j);
    for (size_t d = 0; d < count; ++d) {
      sum = hn::MulAdd(hn::Set(Real(), taps[kBackwards ? count - 1 - d : d]), load(x + j + d), sum);
    }
    store(sum, out + j);
  });
}

/// s [filters,Tk]: what each filter sees around each key.
void seen_by_filters(const LocationProblem& p, const real* padded, real* seen) {
  std::fill_n(seen, p.filters * p.keys, real{0});
  const size_t taps = 2 * p.reach + 1;
  for (size_t c = 0; c < p.filters; ++c) convolve<false>(padded, p.f + c * taps, taps, p.keys, seen + c * p.keys);
}

/// The arguments of tanh of K keys at units h …: q + k + Σ_c z[c]·s[c].
template <size_t K, class Load>
HWY_INLINE void arguments_of(const LocationProblem& p, size_t h, Load load, const real* q, const real* k,
                             const real* seen, Reals* sums) {
  const Reals query = load(q + h);
  for (size_t i = 0; i < K; ++i) sums[i] = hn::Add(query, load(k + i * p.hidden + h));
  for (size_t c = 0; c < p.filters; ++c) {
    const Reals z = load(p.z + c * p.hidden + h);
    for (size_t i = 0; i < K; ++i) sums[i] = hn::MulAdd(z, hn::Set(Real(), seen[c * p.keys + i]), sums[i]);
  }
}

/// energies of K keys from k, with `seen` and `out` at the first of them.
template <size_t K>
void location_energies(const LocationProblem& p, const real* q, const real* k, const real* seen, real* out) {
  Reals totals[K];
  for (size_t i = 0; i < K; ++i) totals[i] = hn::Zero(Real());
  walk(p.hidden, [&](size_t h, auto load, auto, auto valid) HWY_ATTR {
    Reals sums[K];
    arguments_of<K>(p, h, load, q, k, seen, sums);
    const Reals v = valid(load(p.v + h));
    for (size_t i = 0; i < K; ++i) totals[i] = hn::MulAdd(v, tanh_of_finite(sums[i]), totals[i]);
  });
  for (size_t i = 0; i < K; ++i) out[i] = hn::GetLane(hn::SumOfLanes(Real(), totals[i]));
}

/// The gradients of the arguments of K keys, de·v∘(1 − t²): to `slopes` [K,H], and added to dq and dk; de·t is added to dv.
template <size_t K>
void location_slopes(const LocationProblem& p, const real* q, const real* k, const real* seen, const real* de,
                     real* slopes, real* dq, real* dk, real* dv) {
  walk(p.hidden, [&](size_t h, auto load, auto store, auto) HWY_ATTR {
    Reals sums[K];
    arguments_of<K>(p, h, load, q, k, seen, sums);
    const Reals v = load(p.v + h);
    Reals dq_sum = load(dq + h), dv_sum = load(dv + h);
    for (size_t i = 0; i < K; ++i) {
      const Reals t = tanh_of_finite(sums[i]), e = hn::Set(Real(), de[i]), te = hn::Mul(t, e);
      const Reals slope = hn::Mul(v, hn::NegMulAdd(te, t, e));
      const size_t at = i * p.hidden + h;
      store(slope, slopes + at);
      store(hn::Add(slope, load(dk + at)), dk + at);
      dq_sum = hn::Add(dq_sum, slope);
      dv_sum = hn::Add(dv_sum, te);
    }
    store(dq_sum, dq + h);
    store(dv_sum, dv + h);
  });
}

/// Runs f<K>(j) over all keys j, kLocationKeys at a time, then one by one.
template <class Several, class One>
void over_keys(size_t keys, Several several, One one) {
  size_t j = 0;
  for (; j + kLocationKeys <= keys; j += kLocationKeys) several(j);
  for (; j < keys; ++j) one(j);
}

void LocationForward(const LocationProblem& p, real* energies) {
  const size_t Tk = p.keys, H = p.hidden;
  parallel_for(p.batch, [&](size_t b) {
    const memory::Scratch seen(p.filters * Tk);
    seen_by_filters(p, PaddedRows(p.previous + b * Tk, 1, Tk, p.reach).row(0), seen.data());
    const real *q = p.q + b * H, *k = p.k + b * Tk * H;
    real* out = energies + b * Tk;
    over_keys(
        Tk, [&](size_t j) { location_energies<kLocationKeys>(p, q, k + j * H, seen.data() + j, out + j); },
        [&](size_t j) { location_energies<1>(p, q, k + j * H, seen.data() + j, out + j); });
  });
}

/// df[c,d] = Σⱼ dseen[c,j]·padded[j + d].
void filter_gradients(const LocationProblem& p, const real* dseen, const real* padded, real* df) {
  const size_t taps = 2 * p.reach + 1;
  for (size_t c = 0; c < p.filters; ++c) {
    for (size_t d = 0; d < taps; ++d) {
      Reals sum = hn::Zero(Real());
      walk(p.keys, [&](size_t j, auto load, auto, auto valid)
                       HWY_ATTR { sum = hn::MulAdd(valid(load(dseen + c * p.keys + j)), load(padded + j + d), sum); });
      df[c * taps + d] = hn::GetLane(hn::SumOfLanes(Real(), sum));
    }
  }
}

/// Gradients of one sequence: df, dz and dv are its own, to be summed over the sequences.
void location_gradients(const LocationProblem& p, size_t b, const real* de, const LocationGradients& d, real* df,
                        real* dz, real* dv) {
  const size_t Tk = p.keys, H = p.hidden, C = p.filters, taps = 2 * p.reach + 1;
  const PaddedRows previous(p.previous + b * Tk, 1, Tk, p.reach);
  const memory::Scratch seen(C * Tk), dseen(C * Tk), slopes(Tk * H);
  seen_by_filters(p, previous.row(0), seen.data());
  const real *q = p.q + b * H, *k = p.k + b * Tk * H, *e = de + b * Tk;
  real *dq = d.q + b * H, *dk = d.k + b * Tk * H;
  std::fill_n(dq, H, real{0});
  std::fill_n(dv, H, real{0});
  over_keys(
      Tk,
      [&](size_t j) {
        location_slopes<kLocationKeys>(p, q, k + j * H, seen.data() + j, e + j, slopes.data() + j * H, dq, dk + j * H,
                                       dv);
      },
      [&](size_t j) {
        location_slopes<1>(p, q, k + j * H, seen.data() + j, e + j, slopes.data() + j * H, dq, dk + j * H, dv);
      });
  gemm({.m = C, .n = H, .k = Tk, .a = seen.data(), .lda = Tk, .b = slopes.data(), .ldb = H, .c = dz, .ldc = H});
  gemm({.m = C,
        .n = Tk,
        .k = H,
        .a = p.z,
        .lda = H,
        .b = slopes.data(),
        .ldb = H,
        .transpose_b = true,
        .c = dseen.data(),
        .ldc = Tk});
  filter_gradients(p, dseen.data(), previous.row(0), df);
  const PaddedRows padded(dseen.data(), C, Tk, p.reach);
  real* dprevious = d.previous + b * Tk;
  std::fill_n(dprevious, Tk, real{0});
  for (size_t c = 0; c < C; ++c) convolve<true>(padded.row(c), p.f + c * taps, taps, Tk, dprevious);
}

void LocationBackward(const LocationProblem& p, const real* de, const LocationGradients& d) {
  const size_t taps = 2 * p.reach + 1;
  // Of each sequence, summed in order at the end.
  const memory::Scratch df(p.batch * p.filters * taps), dz(p.batch * p.filters * p.hidden), dv(p.batch * p.hidden);
  parallel_for(p.batch, [&](size_t b) {
    location_gradients(p, b, de, d, df.data() + b * p.filters * taps, dz.data() + b * p.filters * p.hidden,
                       dv.data() + b * p.hidden);
  });
  sum_columns(df.data(), p.batch, p.filters * taps, d.f, true);
  sum_columns(dz.data(), p.batch, p.filters * p.hidden, d.z, true);
  sum_columns(dv.data(), p.batch, p.hidden, d.v, true);
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(LocationForward);
HWY_EXPORT(LocationBackward);

void location_forward(const LocationProblem& p, real* energies) { HWY_DYNAMIC_DISPATCH(LocationForward)(p, energies); }

void location_backward(const LocationProblem& p, const real* de, const LocationGradients& d) {
  HWY_DYNAMIC_DISPATCH(LocationBackward)(p, de, d);
}

}  // namespace attend::kernels
#endif
