// The sound of a trace as JSON, for trace.cc.
#pragma once

#include <memory>
#include <vector>

#include "attend/data/sound.h"
#include "attend/explain/trace_json-inl.h"
#include "attend/explain/trace_sound.h"

namespace attend::explain {

/// [["seven", 0.31, 0.72], …]: to a tenth of a millisecond.
Json times_json(const std::vector<data::TimedLabel>& times);
std::vector<data::TimedLabel> times_of(const Json& json);

/// All but `posteriors`, which may be in a file beside the trace. The spectrogram has 8 bits a number.
Json sound_json(const TraceSound& sound);
/// Checks its own sizes, not those that it shares with others (check_sound).
TraceSound sound_of(const Json& json);

}  // namespace attend::explain
