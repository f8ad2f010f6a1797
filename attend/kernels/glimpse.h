// Patches around locations in images: the retina of a glimpse network (Mnih et al. 2014, section 3.1).
#pragma once

#include <cmath>
#include <cstddef>

#include "attend/base/real.h"

namespace attend::kernels {

/// Images [B,C,H,W]; row n of [N,2] locations looks at image n mod B. Patch j of a row is side·finest·growth^j pixels
/// wide and high, of which finest·growth^j × finest·growth^j are averaged into one number.
struct Patches {
  size_t images = 0, channels = 0, height = 0, width = 0, rows = 0;
  size_t side = 0, scales = 1, growth = 2, finest = 1;
  size_t numbers() const { return scales * channels * side * side; }  // per row
};

/// The first pixel, possibly outside the image, of a patch of `pixels` pixels at `location` along an axis of `extent`
/// pixels. This defines a location: pixel i covers [i, i+1), the image's edges are at −1 and 1, and the patch lies on
/// whole pixels, ⌊(location + 1)·extent/2 − pixels/2 + ½⌋.
inline ptrdiff_t patch_begin(real location, size_t extent, size_t pixels) {
  const double centre = (static_cast<double>(location) + 1) * static_cast<double>(extent) / 2;
  return static_cast<ptrdiff_t>(std::floor(centre - static_cast<double>(pixels) / 2 + 0.5));
}

/// locations [N,2] (x to the right, y downwards) → out [N,scales,C,side,side]; 0 outside the image.
void glimpse_patches(const Patches& p, const real* images, const real* locations, real* out);
/// dimages [B,C,H,W] += the gradient of the above.
void glimpse_patches_backward(const Patches& p, const real* dout, const real* locations, real* dimages);

}  // namespace attend::kernels
