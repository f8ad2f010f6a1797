// Normalisation of an image's channels in groups, with the relu that usually follows done in the same pass.
#pragma once

#include <cstddef>

#include "attend/base/real.h"

namespace attend::kernels {

/// Images [batch, channels, pixels]; `groups` divides the channels.
struct GroupNorm {
  size_t batch = 0, channels = 0, pixels = 0, groups = 1;
  real epsilon = 0;
  bool relu = false;
};

/// y = x̂ ∘ gain + bias per channel, x̂ = (x − mean)·rstd of the group; with `relu` max(0, y). mean and rstd
/// [batch, groups] are kept for the gradient.
void group_norm(const GroupNorm& g, const real* x, const real* gain, const real* bias, real* y, real* mean, real* rstd);
/// dx (may be null), dgain += Σ dy∘x̂, dbias += Σ dy (both [channels]). The same bits for any number of threads.
void group_norm_backward(const GroupNorm& g, const real* dy, const real* x, const real* gain, const real* bias,
                         const real* mean, const real* rstd, real* dx, real* dgain, real* dbias);

}  // namespace attend::kernels
