// The tree that a parser made of a text, with the words it looked at as it opened each bracket: for a terminal, and as
// SVG.
#pragma once

#include <string>

#include "attend/explain/heatmap.h"
#include "attend/explain/svg.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// Whether the answer is a tree over exactly the words of the text. A truncated one is not.
bool is_tree(const Trace& trace);

// The functions below throw Error if it is not.

/// A line for each bracket and each word, indented, with the two words that were looked at most and the weight of the
/// first. Without a map from the text to the answer, only the tree.
std::string text_tree(const Trace& trace, const TextOptions& options);

/// Words below, brackets above them, each in the colour that its largest value has in the heat map, over its word.
Fragment draw_tree(const Trace& trace);
/// The same as a separate picture.

std::string svg_tree(const Trace& trace);

}  // namespace attend::explain
