// Pictures of what a network saw of an image: as SVG, step by step, and as an animation.
#pragma once

#include <cstddef>
#include <string>

#include "attend/explain/image_trace.h"

namespace attend::explain {

/// As SVG. A caption: the image once per word, what that word did not look at under a veil. Glimpses: the path over the image,
/// and what each of them saw. A map: the image, the map over it, and alone.
/// Throws Error where parts disagree in their sizes.
std::string svg_picture(const ImageLook& look);

/// One step of it as SVG, of one size for all steps: a word and where it looked, or the path up to a glance.
std::string svg_step(const ImageLook& look, size_t step);

/// The steps one after another as a GIF, drawn by librsvg; of a map the image and the map over it in turn.
std::string gif_picture(const ImageLook& look);

}  // namespace attend::explain
