// The tree that a parser made of a text, with the words that were looked at when each bracket was opened: for a terminal, and
// as SVG.
#pragma once

#include <string>

#include "attend/explain/heatmap.h"
#include "attend/explain/svg.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// Whether the answer is a tree over exactly the words of the text. One that was cut off is not.
bool is_tree(const Trace& trace);

// Those below throw Error where it is not.

/// A line for each bracket and each word, indented; beside it how much the word that was looked at most had, and the two that
/// had most. Of a trace without a map from the text to the answer, the tree alone.
std::string text_tree(const Trace& trace, const TextOptions& options);

/// Words below, brackets above them, each in the colour that its largest value has in the heat map, over the word that it is of.
Fragment draw_tree(const Trace& trace);
/// The same as a picture of its own.
std::string svg_tree(const Trace& trace);

}  // namespace attend::explain
