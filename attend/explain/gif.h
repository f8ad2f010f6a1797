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

/// The frames again and again, in 256 colours chosen for all of them (Heckbert 1982, median cut); where there are no more than
/// that, exactly. Of each frame but the first only the rectangle that changes is stored. Throws Error where there is no frame,
/// or one of another size, or more than 65,535 pixels on a side.
std::string encode_gif(std::span<const GifFrame> frames);

}  // namespace attend::explain
