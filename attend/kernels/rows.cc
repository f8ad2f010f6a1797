#include "attend/kernels/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/math-inl.h"
#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Elements per task: below this, one thread is done before another has started.
constexpr size_t kRowGrain = size_t{16} << 10;
// Longest row kept on the stack between two passes, so that the result can be written past the caches.
constexpr size_t kStackRow = 4096;
// How far ahead a pass over memory prefetches lines: rows of 1024 floats fill a page, at whose end the processor's own
// prefetcher stops.
constexpr size_t kAhead = 1024;
constexpr real kLowest = -std::numeric_limits<real>::infinity();
// The probability of a target above which p − 1 loses digits.
constexpr real kNearlyCertain = real(0.5);

/// Runs `body(row)` over all rows, several per task.
template <class Body>
void over_rows(size_t rows, size_t n, Body&& body) {
  const size_t per_task = std::max<size_t>(1, kRowGrain / std::max<size_t>(1, n));
  parallel_ranges<1>(rows, per_task, [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) body(r);
  });
}

HWY_INLINE real total(Reals v) { return hn::GetLane(hn::SumOfLanes(Real(), v)); }
HWY_INLINE real largest(Reals v) { return hn::GetLane(hn::MaxOfLanes(Real(), v)); }

template <bool kMasked>
HWY_INLINE real row_max(const real* x, const real* mask, size_t n) {
  const Real d;
  const Reals lowest = hn::Set(d, kLowest);
  Reals m0 = lowest, m1 = lowest;
  size_t i = 0;
  if constexpr (!kMasked) {
    for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
      __builtin_prefetch(x + i + kAhead);
      m0 = hn::Max(m0, hn::LoadU(d, x + i));
      m1 = hn::Max(m1, hn::LoadU(d, x + i + kLanes));
    }
  }
  walk(n - i, [&](size_t j, auto load, auto, auto) HWY_ATTR {
    const Reals v = load(x + i + j);
    m0 = hn::Max(m0, kMasked ? hn::IfThenElse(hn::Eq(load(mask + i + j), hn::Zero(d)), lowest, v) : v);
  });
  return largest(hn::Max(m0, m1));
}

struct MaxAndSum {
  real max, sum;
};

/// Both in one pass over memory.
HWY_INLINE MaxAndSum row_max_and_sum(const real* x, size_t n) {
  const Real d;
  Reals m0 = hn::Set(d, kLowest), m1 = m0, s0 = hn::Zero(d), s1 = s0;
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    __builtin_prefetch(x + i + kAhead);
    const Reals a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + i + kLanes);
    m0 = hn::Max(m0, a);
    m1 = hn::Max(m1, b);
    s0 = hn::Add(s0, a);
    s1 = hn::Add(s1, b);
  }
  walk(n - i, [&](size_t j, auto load, auto, auto valid) HWY_ATTR {
    const Reals a = load(x + i + j);
    m0 = hn::Max(m0, a);
    s0 = hn::Add(s0, valid(a));
  });
  return {largest(hn::Max(m0, m1)), total(hn::Add(s0, s1))};
}

/// e[i] = e^(x[i] − shift), 0 where masked; returns the sum.
template <bool kMasked>
HWY_INLINE real row_exp(const real* x, const real* mask, size_t n, real shift, real* e) {
  const Real d;
  const Reals top = hn::Set(d, shift);
  Reals s0 = hn::Zero(d), s1 = s0;
  size_t i = 0;
  if constexpr (!kMasked) {
    for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
      const Reals a = exp_below(hn::LoadU(d, x + i), top);
      const Reals b = exp_below(hn::LoadU(d, x + i + kLanes), top);
      s0 = hn::Add(s0, a);
      s1 = hn::Add(s1, b);
      if (e) {
        hn::StoreU(a, d, e + i);
        hn::StoreU(b, d, e + i + kLanes);
      }
    }
  }
  walk(n - i, [&](size_t j, auto load, auto store, auto valid) HWY_ATTR {
    Reals v = exp_below(load(x + i + j), top);
    if (kMasked) v = hn::IfThenZeroElse(hn::Eq(load(mask + i + j), hn::Zero(d)), v);
    v = valid(v);
    s0 = hn::Add(s0, v);
    if (e) store(v, e + i + j);
  });
  return total(hn::Add(s0, s1));
}

template <bool kMasked>
void softmax_row(const real* x, const real* mask, size_t n, real* y, size_t whole) {
  const Real d;
  const real top = row_max<kMasked>(x, mask, n);
  if (top == kLowest) return (void)std::fill_n(y, n, real{0});
  HWY_ALIGN real kept[kStackRow];
  real* e = n <= kStackRow ? kept : y;
  const Reals scale = hn::Set(d, 1 / row_exp<kMasked>(x, mask, n, top, e));
  map_range(y, n, n <= kStackRow ? whole : 0,
            [&](Real tag, size_t i, auto load) HWY_ATTR { return hn::Mul(load(tag, e + i), scale); });
}

void Softmax(const real* x, size_t rows, size_t n, RowMask mask, real* y) {
  over_rows(rows, n, [&](size_t r) {
    const real* m = mask.row(r, n);
    m ? softmax_row<true>(x + r * n, m, n, y + r * n, rows * n)
      : softmax_row<false>(x + r * n, m, n, y + r * n, rows * n);
  });
}

HWY_INLINE real row_dot(const real* a, const real* b, size_t n) {
  const Real d;
  Reals s0 = hn::Zero(d), s1 = s0;
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, a + i + kLanes), hn::LoadU(d, b + i + kLanes), s1);
  }
  walk(n - i, [&](size_t j, auto load, auto, auto valid)
                  HWY_ATTR { s0 = hn::Add(s0, valid(hn::Mul(load(a + i + j), load(b + i + j)))); });
  return total(hn::Add(s0, s1));
}

HWY_INLINE real row_sum(const real* x, size_t n) {
  const Real d;
  Reals s0 = hn::Zero(d), s1 = s0;
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    __builtin_prefetch(x + i + kAhead);
    s0 = hn::Add(hn::LoadU(d, x + i), s0);
    s1 = hn::Add(hn::LoadU(d, x + i + kLanes), s1);
  }
  walk(n - i, [&](size_t j, auto load, auto, auto valid) HWY_ATTR { s0 = hn::Add(s0, valid(load(x + i + j))); });
  return total(hn::Add(s0, s1));
}

void SoftmaxBackward(const real* dy, const real* y, size_t rows, size_t n, real* dx) {
  over_rows(rows, n, [&](size_t r) {
    const real *g = dy + r * n, *p = y + r * n;
    const Reals mean = hn::Set(Real(), row_dot(g, p, n));
    map_range(dx + r * n, n, 0, [&](Real d, size_t i, auto load) HWY_ATTR {
      return hn::Mul(load(d, p + i), hn::Sub(load(d, g + i), mean));
    });
  });
}

template <bool kMasked>
void log_softmax_row(const real* x, const real* mask, size_t n, real* y, size_t whole) {
  const real top = row_max<kMasked>(x, mask, n);
  if (top == kLowest) return (void)std::fill_n(y, n, real{0});
  const Reals shift = hn::Set(Real(), top + std::log(row_exp<kMasked>(x, mask, n, top, nullptr)));
  map_range(y, n, whole, [&](Real d, size_t i, auto load) HWY_ATTR {
    const Reals v = hn::Sub(load(d, x + i), shift);
    if (!kMasked) return v;
    return hn::IfThenElse(hn::Eq(load(d, mask + i), hn::Zero(d)), hn::Set(d, kMaskedLog), v);
  });
}

void LogSoftmax(const real* x, size_t rows, size_t n, RowMask mask, real* y) {
  over_rows(rows, n, [&](size_t r) {
    const real* m = mask.row(r, n);
    m ? log_softmax_row<true>(x + r * n, m, n, y + r * n, rows * n)
      : log_softmax_row<false>(x + r * n, m, n, y + r * n, rows * n);
  });
}

void LogSoftmaxBackward(const real* dy, const real* y, size_t rows, size_t n, RowMask mask, real* dx) {
  over_rows(rows, n, [&](size_t r) {
    const real *g = dy + r * n, *log_p = y + r * n, *m = mask.row(r, n);
    if (!m) {
      const Reals sum = hn::Set(Real(), row_sum(g, n));
      return map_range(dx + r * n, n, 0, [&](Real d, size_t i, auto load) HWY_ATTR {
        return hn::NegMulAdd(exp_of(load(d, log_p + i)), sum, load(d, g + i));
      });
    }
    const Reals sum = hn::Set(Real(), row_dot(g, m, n));  // the mask is 1 where an element counts
    map_range(dx + r * n, n, 0, [&](Real d, size_t i, auto load) HWY_ATTR {
      const Reals v = hn::NegMulAdd(exp_of(load(d, log_p + i)), sum, load(d, g + i));
      return hn::IfThenZeroElse(hn::Eq(load(d, m + i), hn::Zero(d)), v);
    });
  });
}

void LayerNorm(const real* x, const real* gain, const real* bias, size_t rows, size_t n, real epsilon, real* y,
               real* mean, real* rstd) {
  const real share = real{1} / static_cast<real>(n);
  over_rows(rows, n, [&](size_t r) {
    const real* row = x + r * n;
    const real m = row_sum(row, n) * share;
    const Reals centre = hn::Set(Real(), m);
    Reals s0 = hn::Zero(Real()), s1 = s0;
    size_t k = 0;
    for (; k + 2 * kLanes <= n; k += 2 * kLanes) {
      const Reals a = hn::Sub(hn::LoadU(Real(), row + k), centre);
      const Reals b = hn::Sub(hn::LoadU(Real(), row + k + kLanes), centre);
      s0 = hn::MulAdd(a, a, s0);
      s1 = hn::MulAdd(b, b, s1);
    }
    walk(n - k, [&](size_t j, auto load, auto, auto valid) HWY_ATTR {
      const Reals a = valid(hn::Sub(load(row + k + j), centre));
      s0 = hn::MulAdd(a, a, s0);
    });
    const real s = 1 / std::sqrt(total(hn::Add(s0, s1)) * share + epsilon);
    mean[r] = m;
    rstd[r] = s;
    const Reals scale = hn::Set(Real(), s);
    map_range(y + r * n, n, rows * n, [&](Real d, size_t i, auto load) HWY_ATTR {
      const Reals normal = hn::Mul(hn::Sub(load(d, row + i), centre), scale);
      return hn::MulAdd(normal, load(d, gain + i), load(d, bias + i));
    });
  });
}

// Rows per partial sum of the parameters' gradients: fixed, so that the sums do not depend on the number of threads.
constexpr size_t kNormBand = 64;

void LayerNormBackward(const real* dy, const real* x, const real* gain, const real* mean, const real* rstd, size_t rows,
                       size_t n, real* dx, real* dgain, real* dbias) {
  const real share = real{1} / static_cast<real>(n);
  const size_t bands = (rows + kNormBand - 1) / kNormBand;
  const memory::Scratch partial(bands * 2 * n);
  parallel_for(bands, [&](size_t band) {
    real* gain_sum = partial.data() + band * 2 * n;
    real* bias_sum = gain_sum + n;
    std::fill_n(gain_sum, 2 * n, real{0});
    for (size_t r = band * kNormBand; r < std::min(rows, (band + 1) * kNormBand); ++r) {
      const real *g = dy + r * n, *row = x + r * n;
      const Reals centre = hn::Set(Real(), mean[r]), scale = hn::Set(Real(), rstd[r]);
      Reals a = hn::Zero(Real()), b = a;  // Σ dx̂ and Σ dx̂∘x̂ with dx̂ = dy∘gain
      walk(n, [&](size_t i, auto load, auto store, auto valid) HWY_ATTR {
        const Reals normal = hn::Mul(hn::Sub(load(row + i), centre), scale);
        const Reals gi = load(g + i), d_normal = valid(hn::Mul(gi, load(gain + i)));
        a = hn::Add(a, d_normal);
        b = hn::MulAdd(d_normal, normal, b);
        store(hn::MulAdd(gi, normal, load(gain_sum + i)), gain_sum + i);
        store(hn::Add(gi, load(bias_sum + i)), bias_sum + i);
      });
      if (!dx) continue;
      const Reals mean_a = hn::Set(Real(), total(a) * share), mean_b = hn::Set(Real(), total(b) * share);
      map_range(dx + r * n, n, 0, [&](Real d, size_t i, auto load) HWY_ATTR {
        const Reals normal = hn::Mul(hn::Sub(load(d, row + i), centre), scale);
        const Reals d_normal = hn::Mul(load(d, g + i), load(d, gain + i));
        return hn::Mul(hn::Sub(d_normal, hn::MulAdd(normal, mean_b, mean_a)), scale);
      });
    }
  });
  for (size_t band = 0; band < bands; ++band) {
    const real* sums = partial.data() + band * 2 * n;
    for (size_t i = 0; i < n; ++i) {
      if (dgain) dgain[i] += sums[i];
      if (dbias) dbias[i] += sums[n + i];
    }
  }
}

void CrossEntropyForward(const CrossEntropy& p, real* loss, real* log_sum) {
  over_rows(p.rows, p.n, [&](size_t r) {
    loss[r] = log_sum[r] = 0;
    const int32_t target = p.targets[r];
    if (target == p.ignored) return;
    const real* x = p.logits + r * p.n;
    const MaxAndSum all = row_max_and_sum(x, p.n);
    log_sum[r] = all.max + std::log(row_exp<false>(x, nullptr, p.n, all.max, nullptr));
    loss[r] = log_sum[r] - (1 - p.smoothing) * x[target] - p.smoothing / static_cast<real>(p.n) * all.sum;
  });
}

void CrossEntropyBackward(const CrossEntropy& p, const real* log_sum, real scale_of_all, real* dx) {
  over_rows(p.rows, p.n, [&](size_t r) {
    real* g = dx + r * p.n;
    const real scale = p.weights ? scale_of_all * p.weights[r] : scale_of_all;
    const int32_t target = p.targets[r];
    if (target == p.ignored) return (void)std::fill_n(g, p.n, real{0});
    const real* x = p.logits + r * p.n;
    const Reals shift = hn::Set(Real(), log_sum[r]), by = hn::Set(Real(), scale);
    const Reals even = hn::Set(Real(), -scale * p.smoothing / static_cast<real>(p.n));
    map_range(g, p.n, p.rows * p.n, [&](Real d, size_t i, auto load) HWY_ATTR {
      __builtin_prefetch(x + i + kAhead);
      return hn::MulAdd(exp_below(load(d, x + i), shift), by, even);
    });
    if (std::exp(x[target] - log_sum[r]) < kNearlyCertain) {
      g[target] -= scale * (1 - p.smoothing);
      return;
    }
    // p − 1 has lost the digits that −(the sum of the others) still has. The logits are read again, not g: that may
    // have been written past the caches.
    const size_t at = static_cast<size_t>(target), after = at + 1;
    const real others = row_exp<false>(x, nullptr, at, log_sum[r], nullptr) +
                        row_exp<false>(x + after, nullptr, p.n - after, log_sum[r], nullptr);
    g[target] = scale * (p.smoothing - p.smoothing / static_cast<real>(p.n) - others);
  });
}

real Sum(const real* x, size_t n) {
  constexpr size_t kPiece = size_t{16} << 10;  // fixed: the order of addition does not depend on the threads
  if (n <= kPiece) return row_sum(x, n);
  const size_t pieces = (n + kPiece - 1) / kPiece;
  std::vector<real> sums(pieces);
  parallel_for(pieces, [&](size_t i) { sums[i] = row_sum(x + i * kPiece, std::min(kPiece, n - i * kPiece)); });
  double all = 0;
  for (const real s : sums) all += s;
  return static_cast<real>(all);
}

void SumColumns(const real* x, size_t rows, size_t n, real* out, bool accumulate) {
  constexpr size_t kBlock = 128;
  const auto block = [&](size_t task) {
    const size_t begin = task * kBlock, width = std::min(kBlock, n - begin);
    HWY_ALIGN real sums[kBlock] = {};
    for (size_t r = 0; r < rows; ++r) {
      const real* row = x + r * n + begin;
      size_t j = 0;
      for (; j + kLanes <= width; j += kLanes) {
        hn::Store(hn::Add(hn::Load(Real(), sums + j), hn::LoadU(Real(), row + j)), Real(), sums + j);
      }
      for (; j < width; ++j) sums[j] += row[j];
    }
    for (size_t j = 0; j < width; ++j) out[begin + j] = accumulate ? out[begin + j] + sums[j] : sums[j];
  };
  const size_t blocks = (n + kBlock - 1) / kBlock;
  if (rows * n < 4 * kRowGrain) {
    for (size_t t = 0; t < blocks; ++t) block(t);
  } else {
    parallel_for(blocks, block);
  }
}

void SumAxis(const real* x, size_t outer, size_t n, size_t inner, real* out) {
  if (inner == 1) return over_rows(outer, n, [&](size_t r) { out[r] = row_sum(x + r * n, n); });
  const auto one = [&](size_t o) { SumColumns(x + o * n * inner, n, inner, out + o * inner, false); };
  if (outer == 1) return one(0);
  over_rows(outer, n * inner, one);
}

void MaxAxis(const real* x, size_t outer, size_t n, size_t inner, real* out, int32_t* position) {
  over_rows(outer, n * inner, [&](size_t o) {
    const real* block = x + o * n * inner;
    real* best = out + o * inner;
    int32_t* at = position + o * inner;
    for (size_t i = 0; i < inner; ++i) best[i] = block[i], at[i] = 0;
    for (size_t k = 1; k < n; ++k) {
      for (size_t i = 0; i < inner; ++i) {
        if (block[k * inner + i] > best[i]) best[i] = block[k * inner + i], at[i] = static_cast<int32_t>(k);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Softmax);
HWY_EXPORT(SoftmaxBackward);
HWY_EXPORT(LogSoftmax);
HWY_EXPORT(LogSoftmaxBackward);
HWY_EXPORT(LayerNorm);
HWY_EXPORT(LayerNormBackward);
HWY_EXPORT(CrossEntropyForward);
HWY_EXPORT(CrossEntropyBackward);
HWY_EXPORT(Sum);
HWY_EXPORT(SumColumns);
HWY_EXPORT(SumAxis);
HWY_EXPORT(MaxAxis);

real sum(const real* x, size_t n) { return HWY_DYNAMIC_DISPATCH(Sum)(x, n); }

void sum_columns(const real* x, size_t rows, size_t n, real* out, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(SumColumns)(x, rows, n, out, accumulate);
}

void sum_axis(const real* x, size_t outer, size_t n, size_t inner, real* out) {
  HWY_DYNAMIC_DISPATCH(SumAxis)(x, outer, n, inner, out);
}

void max_axis(const real* x, size_t outer, size_t n, size_t inner, real* out, int32_t* position) {
  HWY_DYNAMIC_DISPATCH(MaxAxis)(x, outer, n, inner, out, position);
}

void softmax(const real* x, size_t rows, size_t n, RowMask mask, real* y) {
  HWY_DYNAMIC_DISPATCH(Softmax)(x, rows, n, mask, y);
}

void softmax_backward(const real* dy, const real* y, size_t rows, size_t n, real* dx) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackward)(dy, y, rows, n, dx);
}

void log_softmax(const real* x, size_t rows, size_t n, RowMask mask, real* y) {
  HWY_DYNAMIC_DISPATCH(LogSoftmax)(x, rows, n, mask, y);
}

void log_softmax_backward(const real* dy, const real* y, size_t rows, size_t n, RowMask mask, real* dx) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxBackward)(dy, y, rows, n, mask, dx);
}

void layer_norm(const real* x, const real* gain, const real* bias, size_t rows, size_t n, real epsilon, real* y,
                real* mean, real* rstd) {
  HWY_DYNAMIC_DISPATCH(LayerNorm)(x, gain, bias, rows, n, epsilon, y, mean, rstd);
}

void layer_norm_backward(const real* dy, const real* x, const real* gain, const real* mean, const real* rstd,
                         size_t rows, size_t n, real* dx, real* dgain, real* dbias) {
  HWY_DYNAMIC_DISPATCH(LayerNormBackward)(dy, x, gain, mean, rstd, rows, n, dx, dgain, dbias);
}

void cross_entropy(const CrossEntropy& problem, real* loss, real* log_sum) {
  HWY_DYNAMIC_DISPATCH(CrossEntropyForward)(problem, loss, log_sum);
}

void cross_entropy_backward(const CrossEntropy& problem, const real* log_sum, real scale, real* dx) {
  HWY_DYNAMIC_DISPATCH(CrossEntropyBackward)(problem, log_sum, scale, dx);
}

}  // namespace attend::kernels
#endif
