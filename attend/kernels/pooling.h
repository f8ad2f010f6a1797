// Pooling over images: plain [B, C, H, W], last axis fastest.
#pragma once

#include <cstddef>

#include "attend/base/real.h"

namespace attend::kernels {

/// Windows of kernel × kernel over `planes` = B·C images of H × W; y [planes, OH, OW]. padding ≤ kernel/2.
struct Pool2d {
  size_t planes = 0, height = 0, width = 0;
  size_t kernel = 1, stride = 1, padding = 0;

  size_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  size_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};

/// y = the largest value of each window; padding never wins, NaN does.
void max_pool2d_forward(const Pool2d& g, const real* x, real* y);
/// dx = dy at the first largest value of each window (found again in x rather than kept), summed where windows overlap.
void max_pool2d_backward(const Pool2d& g, const real* x, const real* dy, real* dx);
/// y = the sum of each window / kernel²: padding counts as zeros.
void avg_pool2d_forward(const Pool2d& g, const real* x, real* y);
void avg_pool2d_backward(const Pool2d& g, const real* dy, real* dx);

}  // namespace attend::kernels
