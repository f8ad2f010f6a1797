// An SVG picture as PNG.
#pragma once

#include <filesystem>
#include <string>

namespace attend::explain {

/// Draws the SVG at twice its size into a PNG file. librsvg is loaded when this is first called: a program that never does
/// starts without it. Throws Error where it is not installed (with the package's name), or cannot read the SVG.
void write_png(const std::filesystem::path& path, const std::string& svg);

/// Whether librsvg is there.
bool can_write_png();

}  // namespace attend::explain
