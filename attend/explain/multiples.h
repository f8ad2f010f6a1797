// Small multiples: every head of every layer of one site, on one scale, with their mean above.
#pragma once

#include <string>

#include "attend/explain/svg.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// One row of small heat maps per layer, one column per head, without the mean.
Fragment draw_heads(const Trace& trace, const std::string& site, const std::string& level);

/// As an SVG file, at level "words" or "tokens". Throws Error if the trace has no weights of that site.
std::string svg_multiples(const Trace& trace, const std::string& site, const std::string& level = "words");

}  // namespace attend::explain
