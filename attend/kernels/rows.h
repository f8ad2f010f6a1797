// Kernels along rows or axes: sums, softmax, layer norm, cross-entropy. All matrices are [rows, n], row by row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"

namespace attend::kernels {

/// Σ x[i], in the same order for any number of threads.
real sum(const real* x, size_t n);
/// out[j] (+)= Σᵢ x[i,j].
void sum_columns(const real* x, size_t rows, size_t n, real* out, bool accumulate);
/// out[o,i] = Σₖ x[o,k,i], and the largest with its position (the first of equals).
void sum_axis(const real* x, size_t outer, size_t n, size_t inner, real* out);
void max_axis(const real* x, size_t outer, size_t n, size_t inner, real* out, int32_t* position);

/// Which elements of a row count: mask 1 where it does, 0 where it does not. Row r uses mask row `row_of[r]`.
struct RowMask {
  const real* values = nullptr;
  const uint32_t* row_of = nullptr;
  const real* row(size_t r, size_t n) const { return values ? values + row_of[r] * n : nullptr; }
};

/// The logarithm given to a masked element by log_softmax: finite, so that 0 · log 0 is 0; its exponential is 0.
constexpr real kMaskedLog = real(-1e30);

/// y = eˣ / Σ eˣ over each row; masked elements, and every element of a fully masked row, are 0.
void softmax(const real* x, size_t rows, size_t n, RowMask mask, real* y);
/// dx = y ∘ (dy − Σ dy∘y).
void softmax_backward(const real* dy, const real* y, size_t rows, size_t n, real* dx);
/// y = x − ln Σ eˣ; masked elements are kMaskedLog, a fully masked row is 0.
void log_softmax(const real* x, size_t rows, size_t n, RowMask mask, real* y);
/// dx = dy − eʸ·Σ dy, 0 where masked.
void log_softmax_backward(const real* dy, const real* y, size_t rows, size_t n, RowMask mask, real* dx);

/// y = (x − mean)·rstd ∘ gain + bias per row, rstd = 1/√(variance + epsilon); mean and rstd are kept for the gradient.
void layer_norm(const real* x, const real* gain, const real* bias, size_t rows, size_t n, real epsilon, real* y,
                real* mean, real* rstd);
/// dx, and dgain += Σ dy∘x̂, dbias += Σ dy (either may be null).
void layer_norm_backward(const real* dy, const real* x, const real* gain, const real* mean, const real* rstd,
                         size_t rows, size_t n, real* dx, real* dgain, real* dbias);

/// Per row: loss = ln Σ eˣ − (1−s)·x[target] − s/n·Σ x, and ln Σ eˣ itself; 0 for rows whose target is `ignored`.
struct CrossEntropy {
  const real* logits = nullptr;
  const int32_t* targets = nullptr;
  size_t rows = 0, n = 0;
  real smoothing = 0;
  int32_t ignored = -1;
  const real* weights = nullptr;  ///< by which the gradient of each row is multiplied; null: 1
};
void cross_entropy(const CrossEntropy& problem, real* loss, real* log_sum);
/// dx = scale·weight·(softmax − (1−s)·onehot − s/n), with the digits of small differences; 0 for ignored rows.
void cross_entropy_backward(const CrossEntropy& problem, const real* log_sum, real scale, real* dx);

}  // namespace attend::kernels
