// Convolution, pooling and normalisation of images [B, C, H, W].
#pragma once

#include <cstdint>

#include "attend/autograd/var.h"

namespace attend {

/// How far the kernel moves per step, and how many zeros surround the image on each side.
struct Conv2dOptions {
  int64_t stride = 1;
  int64_t padding = 0;
};

/// y[b,o,i,j] = bias[o] + Σ_{c,u,v} weight[o,c,u,v] · x[b, c, i·stride+u−padding, j·stride+v−padding], zeros outside
/// (LeCun et al. 1989). x [B,C,H,W], weight [O,C,KH,KW], bias [O] or undefined → [B,O,OH,OW] with
/// OH = ⌊(H + 2·padding − KH)/stride⌋ + 1, OW likewise.
Var conv2d(const Var& x, const Var& weight, const Var& bias = {}, const Conv2dOptions& options = {});

/// y[b,c,i,j] = bias[c] + Σ_{u,v} weight[c,0,u,v] · x[b, c, i·stride+u−p, j·stride+v−q], zeros outside: each channel with a
/// kernel of its own (Howard et al. 2017). Padded as TensorFlow's "same": x [B,C,H,W], weight [C,1,K,K], bias [C] or undefined
/// → [B,C,⌈H/stride⌉,⌈W/stride⌉]; of the (⌈H/stride⌉ − 1)·stride + K − H zeros the smaller half, p, is in front.
Var depthwise_conv2d(const Var& x, const Var& weight, const Var& bias = {}, int64_t stride = 1);

/// Windows of kernel × kernel; a stride of 0 means the kernel's size, so that windows neither overlap nor leave gaps.
struct Pool2dOptions {
  int64_t kernel = 2;
  int64_t stride = 0;
  int64_t padding = 0;  // at most kernel/2: every window meets the image
};

/// The largest value of each window: x [B,C,H,W] → [B,C,OH,OW], OH = ⌊(H + 2·padding − kernel)/stride⌋ + 1. Padding
/// never wins; of equal values the first (row by row) receives the gradient.
Var max_pool2d(const Var& x, const Pool2dOptions& options = {});
/// The mean of each window, shapes as above. Padding counts as zeros: the divisor is always kernel² (PyTorch's default,
/// count_include_pad).
Var avg_pool2d(const Var& x, const Pool2dOptions& options = {});

struct GroupNormOptions {
  int64_t groups = 1;  ///< divides the channels; one group per channel normalises each channel of an image by itself
  bool relu = false;   ///< max(0, ·) of the result, in the same pass
  real epsilon = real(1e-5);
};
/// (x − mean)/√(variance + epsilon) ∘ gain + bias, mean and variance over all pixels of a group of channels of one image (Wu &
/// He 2018, eq. 1 and 7); x [B,C,H,W], gain and bias [C].
Var group_norm(const Var& x, const Var& gain, const Var& bias, const GroupNormOptions& options = {});

}  // namespace attend
