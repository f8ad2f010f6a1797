// An answer to a sound as text for a terminal.
#pragma once

#include <string>

#include "attend/explain/heatmap.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// In strips of at most 100 columns, a twentieth of a second each: a coarse spectrogram, below it letters and words at their
/// time, gold words, and a row of shades for each row of the map at that level. Throws Error as draw_sound does.
std::string text_sound(const Trace& trace, const std::string& level, const TextOptions& options);

}  // namespace attend::explain
