// Heat maps of one grid: as text for a terminal, as SVG for a page. Rows are the target, columns the source.
#pragma once

#include <span>
#include <string>

#include "attend/explain/grid.h"
#include "attend/explain/labels.h"
#include "attend/tensor/tensor.h"

namespace attend::explain {

/// What a terminal can show: shades in its own colour, or any background colour (24 bits).
enum class Ink { shades, true_colour };

struct TextOptions {
  Ink ink = Ink::shades;
  size_t width = 0;  ///< columns of the terminal: wider maps are drawn in blocks of columns; 0: unlimited
};

/// Weights [rows, columns] in shades, darker for more; row labels to the left, column labels slanting down from above.
std::string text_heatmap(const Tensor& weights, std::span<const std::string> rows,
                         std::span<const std::string> columns);
/// The same with options. In true colour each cell shows its number, in hundredths. A choice of a hard attention is a
/// dot, a window is marked with brackets, and negative values with a minus.
std::string text_heatmap(const Grid& grid, const TextOptions& options);
/// One cell of it: a shade, or in true colour its number on its colour.
std::string text_cell(const Scale& scale, double value, Ink ink);
/// One line: what its shades, numbers and signs mean.
std::string text_legend(const Grid& grid, const TextOptions& options);

/// The same as a picture: an SVG text, readable on light and dark pages. Each cell is coloured by its weight, from 0 to
/// 1, which is also its tooltip.
std::string svg_heatmap(const Tensor& weights, std::span<const std::string> rows, std::span<const std::string> columns,
                        const HeatmapOptions& options = {.most = 1});
std::string svg_heatmap(const Grid& grid);

}  // namespace attend::explain
