// An answer to a sound as a piece of an SVG picture.
#pragma once

#include <string>

#include "attend/explain/svg.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// The spectrogram, time to the right and pitch upwards, in strips of some seconds. Below it, in step with it, what there is
/// of: letters and words over the stretch that each heard, gold times, CTC's posteriors, and the map with a row for each word
/// or token ("level"). Of an answer with a label for each place: labelled stretches, beside gold ones. Throws Error if there is
/// nothing of all these, or if sizes disagree.
Fragment draw_sound(const Trace& trace, const std::string& level);

}  // namespace attend::explain
