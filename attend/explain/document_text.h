// A document and the answer that was looked for in it, for a terminal.
#pragma once

#include <string>

#include "attend/explain/heatmap.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// What was asked, the answer, and the running text, shaded where it was looked at: by the
/// colour of its ground, or by marks in the line below. A span stands in brackets. For hops there is a row for each
/// sentence and a column for each hop; for words what each of them looked at most. Throws Error if the trace is not a
/// document.
std::string text_document(const Trace& trace, const TextOptions& options);

}  // namespace attend::explain
