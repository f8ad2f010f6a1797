// A text and the answer to it, for a terminal.
#pragma once

#include <string>

#include "attend/explain/heatmap.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// The text, and below it the answer according to its kind: tags are written under their words, a tree is drawn, and
/// anything else follows an arrow.
std::string text_answer(const Trace& trace, const TextOptions& options);

/// Words with their tags below them, in as many blocks as the width needs. Throws Error if their numbers differ.
std::string text_tags(const Trace& trace, const TextOptions& options);

}  // namespace attend::explain
