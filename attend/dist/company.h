// The ranks that mpirun has started, as a trainer knows them (train/company.h).
#pragma once

#include <memory>

#include "attend/train/company.h"

namespace attend::dist {

/// What mpirun says in the environment of each process that it starts; one alone without it.
struct Launch {
  int rank = 0, size = 1, on_this_machine = 1;
};
Launch launch();

/// How many threads each of these ranks should have, of so many cores of the machine, if nobody says: `allowed` are those that
/// this process is bound to.
int threads_of(const Launch& launch, int allowed, int cores);

/// How long another rank may take to answer while it should be training, in seconds.
inline constexpr double kPatience = 300;

/// All of them, with Open MPI; one alone where mpirun has started no others. Throws Error where this program was built without it.
/// Must be destroyed by the thread that made it, at the end of what they do together: that waits for the others, except after an
/// error.
std::unique_ptr<train::Company> company();

}  // namespace attend::dist
