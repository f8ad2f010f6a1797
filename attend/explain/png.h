// An SVG picture as PNG, or as pixels.
#pragma once

#include <filesystem>
#include <string>

#include "attend/data/image.h"

namespace attend::explain {

/// Draws the SVG at twice its size into a PNG file. librsvg is loaded on the first call: a program that makes none runs
/// without it. Throws Error if it is not installed (with the package's name), or cannot read the SVG.
void write_png(const std::filesystem::path& path, const std::string& svg);

/// Its pixels, `sharp` per unit, on white; as above.
data::Image drawn_svg(const std::string& svg, double sharp);

/// Whether librsvg is available.
bool can_write_png();

}  // namespace attend::explain
