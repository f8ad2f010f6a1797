#include "attend/kernels/crf.h"

#include <algorithm>
#include <cmath>

#include "attend/base/log_add.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/crf.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows are padded to a multiple of the longest vector (kStride), so that there is no remainder to handle.

/// out[j] = Σᵢ x[i]·rows[i,j].
void SumProducts(const double* x, const double* rows, size_t n, size_t stride, double* out) {
  const hn::ScalableTag<double> d;
  std::fill_n(out, stride, 0.0);
  for (size_t i = 0; i < n; ++i, rows += stride) {
    if (x[i] == 0) continue;
    const auto factor = hn::Set(d, x[i]);
    for (size_t j = 0; j < stride; j += hn::Lanes(d)) {
      hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, rows + j), hn::LoadU(d, out + j)), d, out + j);
    }
  }
}

/// out[j] = maxᵢ x[i] + rows[i,j].
void MaxSums(const double* x, const double* rows, size_t n, size_t stride, double* out) {
  const hn::ScalableTag<double> d;
  std::fill_n(out, stride, kLogZero);
  for (size_t i = 0; i < n; ++i, rows += stride) {
    const auto summand = hn::Set(d, x[i]);
    for (size_t j = 0; j < stride; j += hn::Lanes(d)) {
      hn::StoreU(hn::Max(hn::Add(summand, hn::LoadU(d, rows + j)), hn::LoadU(d, out + j)), d, out + j);
    }
  }
}

/// rows[i,j] += x[i]·y[j].
void AddOuter(const double* x, const double* y, size_t n, size_t stride, double* rows) {
  const hn::ScalableTag<double> d;
  for (size_t i = 0; i < n; ++i, rows += stride) {
    if (x[i] == 0) continue;
    const auto factor = hn::Set(d, x[i]);
    for (size_t j = 0; j < stride; j += hn::Lanes(d)) {
      hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, y + j), hn::LoadU(d, rows + j)), d, rows + j);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(SumProducts);
HWY_EXPORT(MaxSums);
HWY_EXPORT(AddOuter);

namespace {

constexpr size_t kStride = 8;  // doubles of 512 bits
// Sums of products below this may have lost summands to underflow, and exponents above this may overflow: such places are
// computed purely with logarithms. Only prohibitive transitions (−1000, say) lead there.
constexpr double kLeastSum = 1e-280, kMostExponent = 600;

/// Scratch of one call.
struct Rows {
  explicit Rows(const CrfTable& table) : x(table.stride), y(table.stride), sums(table.stride) {}
  std::vector<double> x, y, sums;
};

double largest_of(const double* x, size_t n) { return *std::max_element(x, x + n); }

/// out[i] = e^(x[i] − top), 0 in the padding.
void exponentials(const double* x, size_t n, double top, std::vector<double>& out) {
  for (size_t i = 0; i < n; ++i) out[i] = std::exp(x[i] - top);
}

double log_sum(const double* x, size_t n) {
  const double top = largest_of(x, n);
  if (top == kLogZero) return kLogZero;
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::exp(x[i] - top);
  return top + std::log(sum);
}

/// out[j] = ln Σᵢ e^(x[i] + A[i,j]): as a product of exponentials, L² multiplications in place of L² exponentials.
void log_product(const CrfTable& table, const std::vector<double>& matrix, const std::vector<double>& exponents,
                 const double* x, Rows& rows, double* out) {
  const size_t L = table.labels;
  const double top = largest_of(x, L);
  if (top == kLogZero) {
    std::fill_n(out, L, kLogZero);
    return;
  }
  exponentials(x, L, top, rows.x);
  HWY_DYNAMIC_DISPATCH(SumProducts)(rows.x.data(), exponents.data(), L, table.stride, rows.sums.data());
  for (size_t j = 0; j < L; ++j) {
    if (rows.sums[j] >= kLeastSum) {
      out[j] = top + table.largest + std::log(rows.sums[j]);
      continue;
    }
    for (size_t i = 0; i < L; ++i) rows.x[i] = x[i] + matrix[i * table.stride + j];
    out[j] = log_sum(rows.x.data(), L);
  }
}

/// Σ over the pairs of neighbours at one place of e^(from[i] + A[i,j] + to[j] − log_z), purely with logarithms.
void add_pairs_by_logarithms(const CrfTable& table, const double* from, const double* to, double log_z, double scale,
                             double* transitions) {
  for (size_t i = 0; i < table.labels; ++i) {
    for (size_t j = 0; j < table.labels; ++j) {
      transitions[i * table.labels + j] += scale * std::exp(from[i] + table.transition(i, j) + to[j] - log_z);
    }
  }
}

}  // namespace

CrfTable::CrfTable(size_t n, const real* transitions, const real* start_scores, const real* end_scores)
    : labels(n),
      stride((n + kStride - 1) / kStride * kStride),
      largest(static_cast<double>(*std::max_element(transitions, transitions + n * n))),
      onward(n * stride, kLogZero),
      back(n * stride, kLogZero),
      exp_onward(n * stride, 0),
      exp_back(n * stride, 0),
      start(start_scores, start_scores + n),
      end(end_scores, end_scores + n) {
  if (!std::isfinite(largest)) largest = 0;  // nothing may follow anything
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      const double a = static_cast<double>(transitions[i * n + j]);
      onward[i * stride + j] = back[j * stride + i] = a;
      exp_onward[i * stride + j] = exp_back[j * stride + i] = std::exp(a - largest);
    }
  }
}

double crf_forward(const CrfTable& table, const double* emissions, size_t steps, double* alpha) {
  const size_t L = table.labels;
  if (steps == 0) return 0;
  Rows rows(table);
  for (size_t j = 0; j < L; ++j) alpha[j] = table.start[j] + emissions[j];
  for (size_t t = 1; t < steps; ++t) {
    double* now = alpha + t * L;
    log_product(table, table.onward, table.exp_onward, now - L, rows, now);
    for (size_t j = 0; j < L; ++j) now[j] += emissions[t * L + j];
  }
  for (size_t j = 0; j < L; ++j) rows.y[j] = alpha[(steps - 1) * L + j] + table.end[j];
  return log_sum(rows.y.data(), L);
}

void crf_backward(const CrfTable& table, const double* emissions, size_t steps, double* beta) {
  const size_t L = table.labels;
  if (steps == 0) return;
  Rows rows(table);
  std::copy(table.end.begin(), table.end.end(), beta + (steps - 1) * L);
  for (size_t t = steps - 1; t-- > 0;) {
    for (size_t j = 0; j < L; ++j) rows.y[j] = emissions[(t + 1) * L + j] + beta[(t + 1) * L + j];
    log_product(table, table.back, table.exp_back, rows.y.data(), rows, beta + t * L);
  }
}

void crf_expectations(const CrfTable& table, const double* emissions, size_t steps, const double* alpha,
                      const double* beta, double log_z, double scale, const CrfCounts& counts) {
  const size_t L = table.labels;
  if (steps == 0) return;
  Rows rows(table);
  std::vector<double> onward(L), pairs(L * table.stride, 0);  // pairs: still to be multiplied by e^(A − largest)
  for (size_t t = 0; t < steps; ++t) {
    for (size_t j = 0; j < L; ++j) {
      const double share = scale * std::exp(alpha[t * L + j] + beta[t * L + j] - log_z);
      counts.emissions[t * L + j] += share;
      if (t == 0) counts.start[j] += share;
      if (t + 1 == steps) counts.end[j] += share;
    }
    if (t + 1 == steps) break;
    const double* from = alpha + t * L;
    for (size_t j = 0; j < L; ++j) onward[j] = emissions[(t + 1) * L + j] + beta[(t + 1) * L + j];
    const double top_from = largest_of(from, L), top_to = largest_of(onward.data(), L);
    const double exponent = top_from + top_to + table.largest - log_z;
    if (!(exponent < kMostExponent)) {
      add_pairs_by_logarithms(table, from, onward.data(), log_z, scale, counts.transitions);
      continue;
    }
    exponentials(from, L, top_from, rows.x);
    exponentials(onward.data(), L, top_to, rows.y);
    const double factor = std::exp(exponent);
    for (size_t i = 0; i < L; ++i) rows.x[i] *= factor;
    HWY_DYNAMIC_DISPATCH(AddOuter)(rows.x.data(), rows.y.data(), L, table.stride, pairs.data());
  }
  for (size_t i = 0; i < L; ++i) {
    for (size_t j = 0; j < L; ++j) {
      const size_t at = i * table.stride + j;
      counts.transitions[i * L + j] += scale * pairs[at] * table.exp_onward[at];
    }
  }
}

double crf_best(const CrfTable& table, const double* emissions, size_t steps, int32_t* labels) {
  const size_t L = table.labels;
  if (steps == 0) return 0;
  std::vector<double> best(steps * table.stride, kLogZero);  // of the labellings up to t that end in j
  for (size_t j = 0; j < L; ++j) best[j] = table.start[j] + emissions[j];
  for (size_t t = 1; t < steps; ++t) {
    double* now = &best[t * table.stride];
    HWY_DYNAMIC_DISPATCH(MaxSums)(now - table.stride, table.onward.data(), L, table.stride, now);
    for (size_t j = 0; j < L; ++j) now[j] += emissions[t * L + j];
  }
  const auto first_largest = [&](size_t t, auto&& follows) {
    const double* row = &best[t * table.stride];
    size_t found = 0;
    for (size_t i = 1; i < L; ++i) {
      if (row[i] + follows(i) > row[found] + follows(found)) found = i;
    }
    return found;
  };
  // No back-pointers are kept: the path is found again, with L sums for each place of one labelling.
  size_t last = first_largest(steps - 1, [&](size_t i) { return table.end[i]; });
  const double score = best[(steps - 1) * table.stride + last] + table.end[last];
  for (size_t t = steps - 1;; --t) {
    labels[t] = static_cast<int32_t>(last);
    if (t == 0) return score;
    last = first_largest(t - 1, [&](size_t i) { return table.transition(i, last); });
  }
}

}  // namespace attend::kernels
#endif
