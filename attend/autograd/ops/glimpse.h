// Glimpses of images: patches around locations.
#pragma once

#include <cstdint>

#include "attend/autograd/var.h"

namespace attend {

/// `scales` squares around one place, each `growth` times as wide as the one before and each sampled as patch × patch
/// numbers: square j covers (patch·finest·growth^j)² pixels.
struct PatchOptions {
  int64_t patch = 8;
  int64_t scales = 1;
  int64_t growth = 2;
  int64_t finest = 1;
};

/// What a retina sees (Mnih et al. 2014, section 3.1): images [B,C,H,W] around locations [N,2] (x to the right, y downwards,
/// the image's edges at −1 and 1, the patch on whole pixels) → [N, scales·C·patch·patch], means over pixels, 0 outside the
/// image. N is a multiple of B; row n looks at image n mod B. Locations are constants: no gradient flows to them.
Var glimpse_patches(const Var& images, const Tensor& locations, const PatchOptions& options = {});

/// Side of square j in pixels.
int64_t patch_pixels(const PatchOptions& options, int64_t scale);

}  // namespace attend
