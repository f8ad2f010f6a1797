// Depthwise convolution: each channel with a kernel of its own.
#pragma once

#include <cstddef>

#include "attend/base/real.h"
#include "attend/kernels/convolution_chain.h"

namespace attend::kernels {

/// x [B,C,H,W], weight [C,1,K,K], y [B,C,h,w].
struct Depthwise {
  size_t batch = 0, channels = 0, height = 0, width = 0;
  size_t kernel = 1, stride = 1;
  Padding tall, wide;

  size_t out_height() const { return tall.windows; }
  size_t out_width() const { return wide.windows; }
};

/// y[b,c,i,j] = bias[c] + Σ_{u,v} weight[c,0,u,v] · x[b, c, i·stride+u−tall.before, j·stride+v−wide.before], x = 0 outside.
/// `bias` may be null.
void depthwise_forward(const Depthwise& g, const real* x, const real* weight, const real* bias, real* y);
/// dx = ∂/∂x, given dy.
void depthwise_backward_data(const Depthwise& g, const real* dy, const real* weight, real* dx);
/// Either result may be null. The same bits for any number of threads.
void depthwise_backward_weights(const Depthwise& g, const real* x, const real* dy, real* dweight, real* dbias);

}  // namespace attend::kernels
