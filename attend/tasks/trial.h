// Whether a network with these options can be trained, found out before any data is read.
#pragma once

#include "attend/tasks/config.h"

namespace attend::tasks {

/// Builds the network for a few words or a small image, and takes its loss once, as training does. Throws Error where
/// it cannot be built or does not learn.
void try_network(const TaskConfig& config);

/// The setting without which it could be trained, among those that were given; null if it does not depend on one alone.
const Setting* culprit_of(const TaskConfig& config);

}  // namespace attend::tasks
