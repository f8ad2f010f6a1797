// A document and the answer that was looked for in it, as SVG.
#pragma once

#include "attend/explain/svg.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// What was asked, the answer (copied words underlined), and the running text, each word shaded by how much it was
/// looked at; of a span the left half by its start, the right half by its end, and what it spans underlined. For hops
/// there is a row for each sentence and a column for each hop. If the answer has several words there is a strip for
/// each: the words of the text from left to right. Throws Error if the trace is not a document (document.h).
Fragment draw_document(const Trace& trace);

}  // namespace attend::explain
