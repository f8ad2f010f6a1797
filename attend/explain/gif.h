// Animated GIF files (GIF89a).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "attend/data/image.h"

namespace attend::explain {

struct GifFrame {
  data::Image image;         ///< of one size in all frames
  int64_t centiseconds = 0;  ///< how long it is shown
};

/// Loops over the frames, in 256 colours chosen for all of them (Heckbert 1982, median cut), exact if there are no more
/// than that. After the first frame only the rectangle that changes is stored. Throws Error if there is no frame, if
/// sizes differ, or if a side has more than 65,535 pixels.
std::string encode_gif(std::span<const GifFrame> frames);

}  // namespace attend::explain
