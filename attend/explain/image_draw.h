// What a network saw of an image, as pieces of an SVG picture. Images are embedded as PNG, so that it needs no other file.
#pragma once

#include <cstddef>
#include <string>

#include "attend/explain/image_trace.h"
#include "attend/explain/svg.h"

namespace attend::explain {

/// How large an image is drawn, in units of the SVG.
struct ShownSize {
  double width = 0, height = 0;
};
/// As large as fits into box × box.
ShownSize shown_size(const data::Image& image, double box);

/// The image, at most box × box; few pixels are enlarged without smoothing.
Fragment draw_image(const data::Image& image, double box);

/// The image under the veil of what one word looked at, or the frame of what it chose.
Fragment draw_word(const ImageLook& look, const CaptionLook& caption, size_t word, double box);

/// The image with the glances [0, count): numbered dots joined by arrows, and the squares of their patches, the larger the
/// thinner; of the last one alone, where `only_last`.
Fragment draw_path(const ImageLook& look, const GlimpseLook& glimpses, size_t count, double box, bool only_last);
/// The image under the veil of P(tile | state) at a glance; in frames the tiles that were read alone.
Fragment draw_tiles(const ImageLook& look, const GlimpseLook& glimpses, size_t number, double box);
/// What one glance saw at each scale, and the likeliest labels after it.
Fragment draw_glance(const GlimpseLook& glimpses, size_t number, double wide);

/// The image under the veil of the map; the map alone.
Fragment draw_map_over(const ImageLook& look, const SaliencyLook& saliency, double box);
Fragment draw_map(const ImageLook& look, const SaliencyLook& saliency, double box);

}  // namespace attend::explain
