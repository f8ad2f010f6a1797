// Sparsemax (Martins & Astudillo 2016): projection of each row onto the simplex.
#pragma once

#include <cstddef>

#include "attend/base/real.h"
#include "attend/kernels/rows.h"

namespace attend::kernels {

/// y = max(x − τ, 0), τ such that the row sums to one; masked elements, and every element of a fully masked row, are 0.
void sparsemax(const real* x, size_t rows, size_t n, RowMask mask, real* y);
/// dx = dy − mean of dy over the support {y > 0}, and 0 outside it (their section 2.5).
void sparsemax_backward(const real* dy, const real* y, size_t rows, size_t n, real* dx);

}  // namespace attend::kernels
