// Heat maps of weights: as text for a terminal, as SVG for a page.
#pragma once

#include <span>
#include <string>

#include "attend/tensor/tensor.h"

namespace attend::explain {

/// Columns a text takes in a terminal: combining marks none, wide East Asian signs two, all else one.
size_t display_width(std::string_view text);

/// Weights [rows, columns] in shades, row labels to the left, column labels slanting down from above; the darker, the more.
std::string text_heatmap(const Tensor& weights, std::span<const std::string> rows,
                         std::span<const std::string> columns);

/// The same as a picture: an SVG text, readable on light and dark pages. The area is shaded by the weight, which stands in
/// the cell as a tooltip.
std::string svg_heatmap(const Tensor& weights, std::span<const std::string> rows, std::span<const std::string> columns);

}  // namespace attend::explain
