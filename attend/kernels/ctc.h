// Connectionist temporal classification (Graves et al. 2006): sums over all paths of labels and blanks that collapse to a
// target. In logarithms and in double precision: over thousands of frames probabilities leave the range of any number, and the
// gradient is a small difference of large sums.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"

namespace attend::kernels {

/// One sequence. Paths run through the states: the labels of the target, with a blank before, between and after them.
struct CtcPaths {
  const real* logits = nullptr;    ///< of frame t at logits + t·stride
  const real* log_sums = nullptr;  ///< ln Σ eˣ of frame t at log_sums + t·sum_stride
  size_t frames = 0, stride = 0, sum_stride = 0;
  const int32_t* states = nullptr;  ///< [count]; those with an odd number are labels
  size_t count = 0;
};

/// ln p(target) (eq. 3 and 8); −∞ if no path leads there, NaN if a logit of its labels is. Unless it is −∞, `occupancy`, if given,
/// receives [frames,count]: the probability of being in state s at frame t, given the target (eq. 14).
double ctc_paths(const CtcPaths& paths, real* occupancy);

/// dx = scale·(softmax − occupancy of the labels) of one frame of n logits (eq. 16).
void ctc_gradient(const real* logits, real log_sum, size_t n, const int32_t* states, const real* occupancy,
                  size_t count, real scale, real* dx);

}  // namespace attend::kernels
