// Convolution over images: plain [B, C, H, W], last axis fastest.
#pragma once

#include <cstddef>

#include "attend/base/real.h"

namespace attend::kernels {

/// x [B, C, H, W], weight [O, C, KH, KW], y [B, O, OH, OW] with OH = ⌊(H + 2·padding − KH)/stride⌋ + 1, OW likewise.
/// The padded image must hold the kernel, and no extent but the batch may be zero.
struct Conv2d {
  size_t batch = 0, channels = 0, height = 0, width = 0;
  size_t outputs = 0, kernel_height = 0, kernel_width = 0;
  size_t stride = 1, padding = 0;

  size_t out_height() const { return (height + 2 * padding - kernel_height) / stride + 1; }
  size_t out_width() const { return (width + 2 * padding - kernel_width) / stride + 1; }
  /// Weights per output: C·KH·KW.
  size_t taps() const { return channels * kernel_height * kernel_width; }
};

/// y[b,o,i,j] = bias[o] + Σ_{c,u,v} weight[o,c,u,v] · x[b, c, i·stride+u−padding, j·stride+v−padding], x = 0 outside.
/// `bias` may be null.
void conv2d_forward(const Conv2d& g, const real* x, const real* weight, const real* bias, real* y);
/// dx = ∂/∂x, given dy.
void conv2d_backward_data(const Conv2d& g, const real* dy, const real* weight, real* dx);
/// dweight[o,c,u,v] = Σ_{b,i,j} dy[b,o,i,j] · x[b, c, i·stride+u−padding, …], dbias[o] = Σ_{b,i,j} dy[b,o,i,j].
/// Either result may be null; without dweight, x may be null. The same bits for any number of threads.
void conv2d_backward_weights(const Conv2d& g, const real* x, const real* dy, real* dweight, real* dbias);

/// The first two as products over unfolded images (im2col; Chellapilla et al. 2006). Used by the double-precision
/// build, and for every shape that oneDNN has no dedicated kernel for.
void conv2d_forward_by_product(const Conv2d& g, const real* x, const real* weight, const real* bias, real* y);
void conv2d_backward_data_by_product(const Conv2d& g, const real* dy, const real* weight, real* dx);

}  // namespace attend::kernels
