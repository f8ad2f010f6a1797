// A grid as a piece of an SVG picture, and the legend that explains its colours.
#pragma once

#include <functional>
#include <string>

#include "attend/explain/grid.h"
#include "attend/explain/svg.h"

namespace attend::explain {

struct GridStyle {
  double cell = 0;  ///< side of a cell; 0: as large as the number of cells allows
  bool row_labels = true, column_labels = true;
};

/// Where the cells begin within the drawn grid, and how large they are. Column labels slant to the right, and so extend
/// beyond the cells by `right`.
struct GridPlace {
  double cell = 0, left = 0, top = 0, right = 0;
};
GridPlace place_of(const Grid& grid, const GridStyle& style);

Fragment draw_grid(const Grid& grid, const GridStyle& style);

/// Pieces of a legend, which grows to the right: secondary text, and a ramp between the values at its ends.
inline constexpr double kSwatch = 12;
void add_key_text(Fragment& key, const std::string& words);
void add_ramp(Fragment& key, const Scale& scale, const std::string& name, const std::function<Colour(double)>& colour);

/// The ramp with its numbers, and what dots, rings and windows mean.
Fragment draw_legend(const Grid& grid);

}  // namespace attend::explain
