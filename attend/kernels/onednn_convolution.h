// Convolution by oneDNN, for the kernels' own sources; all others call convolution.h.
#pragma once

#include <cstdint>

#include "attend/base/real.h"
#include "attend/kernels/convolution.h"

namespace attend::kernels {

enum class Direction : int64_t { forward, backward_data };

/// Convolves `g.batch` images; `in` is x or dy, `out` is y or dx, `bias` may be null. False if oneDNN has no direct
/// kernel for this shape or type, in which case nothing was done. An exception from oneDNN becomes an Error that names
/// `where`.
bool convolve_directly(const char* where, Direction direction, const Conv2d& g, const real* in, const real* weight,
                       const real* bias, real* out);

}  // namespace attend::kernels
