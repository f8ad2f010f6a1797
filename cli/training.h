// A training run with its bar, as `attend train` and `attend demo` show it.
#pragma once

#include <string>

#include "attend/tasks/text.h"

namespace attend::cli {

/// Trains in the folder `out`; the exit code: 0, or 130 after Ctrl-C (143 after SIGTERM), which saves.
int train_in(const tasks::TextConfig& config, const std::string& out, bool resume);
/// Whether the run in that folder came to its end.
bool finished(const std::string& out);

}  // namespace attend::cli
