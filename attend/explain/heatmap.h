// Heat maps of one grid: as text for a terminal, as SVG for a page. Rows are the target, columns the source.
#pragma once

#include <span>
#include <string>

#include "attend/explain/grid.h"
#include "attend/explain/labels.h"
#include "attend/tensor/tensor.h"

namespace attend::explain {

/// What a terminal can show: shades in its own colour, or any colour behind the text (24 bits).
enum class Ink { shades, true_colour };

struct TextOptions {
  Ink ink = Ink::shades;
  size_t width = 0;  ///< columns of the terminal: what has more is drawn in blocks of columns; 0: without end
};

/// Weights [rows, columns] in shades, row labels to the left, column labels slanting down from above; the darker, the more.
std::string text_heatmap(const Tensor& weights, std::span<const std::string> rows,
                         std::span<const std::string> columns);
/// The same with options. In true colour the number stands in its cell, in hundredths. A choice of a hard attention is a
/// dot, a window stands between brackets, and what speaks against is marked with a minus.
std::string text_heatmap(const Grid& grid, const TextOptions& options);
/// One cell of it: a shade, or in true colour its number on its colour.
std::string text_cell(const Scale& scale, double value, Ink ink);
/// One line: what a shade, a number or a sign of it means.
std::string text_legend(const Grid& grid, const TextOptions& options);

/// The same as a picture: an SVG text, readable on light and dark pages. The cell is coloured by its weight, from 0 to 1,
/// which stands in it as a tooltip.
std::string svg_heatmap(const Tensor& weights, std::span<const std::string> rows, std::span<const std::string> columns,
                        const HeatmapOptions& options = {.most = 1});
std::string svg_heatmap(const Grid& grid);

}  // namespace attend::explain
