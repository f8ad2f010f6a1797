// Word vectors that others have trained, as a start for a new network.
#pragma once

#include <string>

#include "attend/tasks/model.h"

namespace attend::tasks {

/// Puts the vectors that the options name into the network's table of source words; words without one keep their own. Says
/// how many were found; "" where none are named. Throws Error where the network has no such table or another width.
std::string take_vectors(TaskModel& model);

}  // namespace attend::tasks
