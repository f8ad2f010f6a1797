// What one picture shows: numbers labelled with words on both sides, taken from a trace. Rows look (usually the
// target), columns are looked at (the source).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attend/explain/colours.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// The columns that a row could see, and where among them it was centred.
struct RowWindow {
  double centre = 0;
  int64_t first = 0, last = 0;
};

/// What the numbers mean, and so how they are drawn.
struct HeatmapOptions {
  bool is_signed = false;                         ///< around 0: negative values speak against
  bool hard = false;                              ///< rows are choices, marked with a dot
  double most = 0;                                ///< the value with the darkest colour; 0: the largest
  std::vector<std::optional<RowWindow>> windows;  ///< one per row, or none at all
};

struct Grid {
  Tensor values;  ///< [rows, columns]
  std::vector<std::string> rows, columns;
  HeatmapOptions look;
  std::string label;  ///< what it is, in words
};

/// The labels of one side of a picture, and for each of its tokens the label (−1: none).
struct Axis {
  std::vector<std::string> labels;
  std::vector<int32_t> label_of;
};
/// The sentences of an input, as texts.
std::vector<std::string> sentences_of(const TraceSide& input);
/// For anything that a TraceSite's queries and keys may be. Sentences and tokens are labels of their own. Throws Error if a
/// side's parts disagree.
Axis axis_of(const Trace& trace, const std::string& side, bool words);

/// A map of the trace at level "words" or "tokens". Throws Error if the sizes of the trace's parts disagree.
Grid map_grid(const Trace& trace, const TraceMap& map, const std::string& level);

/// The weights of a site, or their mean over all layers or heads (−1). Throws Error if the trace has none.
Grid site_grid(const Trace& trace, const std::string& site, int64_t layer, int64_t head, const std::string& level);

/// How the numbers of a grid are coloured and written.
struct Scale {
  double most = 1;  ///< the value with the darkest colour
  bool is_signed = false;
  bool share = true;  ///< numbers are shares of a whole, and written as such

  Colour colour(double value) const;
  /// "93 %" for shares, otherwise a number of two digits, with its sign if signs matter.
  std::string shown(double value) const;
};
Scale scale_of(const Grid& grid);

/// "ghar ← home 93 %".
std::string phrase(const Grid& grid, const Scale& scale, size_t row, size_t column);
/// For each row the column with the largest value, or for signed ones the largest magnitude; none if all are 0.
std::vector<std::optional<size_t>> strongest(const Grid& grid);

/// Throws Error ("where: …") unless the numbers match the labels, and the windows lie within them.
void check_grid(const char* where, const Grid& grid);

}  // namespace attend::explain
