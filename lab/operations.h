// How many multiply-adds networks of images need for one image, by formula: products alone, as they are nearly all of it.
#pragma once

#include <cstdint>

#include "attend/models/glimpse.h"
#include "attend/models/image_classifier.h"

namespace attend::lab {

/// T·(S·C·p²·what + 2·where + (what + where)·glimpse + (glimpse + hidden)·hidden + 2·hidden) + hidden·labels, and one addition
/// for each pixel that a square of the retina covers. The image's size is not in it. Of core relu or tanh, without tiles.
int64_t multiply_adds(const models::GlimpseOptions& options);

/// Of a square image. Convolutional: Σ over stages of k²·in·out·h·w, and channels·labels; dense: Σ in·out.
int64_t multiply_adds(const models::ImageClassifierOptions& options, int64_t side);

}  // namespace attend::lab
