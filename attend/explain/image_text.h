// What a network saw of an image, as text for a terminal.
#pragma once

#include <string>

#include "attend/explain/heatmap.h"
#include "attend/explain/image_trace.h"

namespace attend::explain {

/// In true colour two pixels per sign, one above the other. A caption: one tile per word. Glimpses: the image with the numbers of
/// the glances where they looked, and a line for each of them. A map: the image, and the map over it. In shades: the weights or
/// the map alone, or the image's brightness.
std::string text_picture(const ImageLook& look, const TextOptions& options);

}  // namespace attend::explain
