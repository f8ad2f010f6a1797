// How much memory a program may still take before the machine or its container is full.
#pragma once

#include <cstddef>
#include <string>

namespace attend::memory {

/// What the system says is available, or what is left below the limit of its control group, whichever is less. Linux
/// gives memory that it does not have, and kills who uses it: whoever is about to ask for a lot asks here first.
size_t at_hand();

/// "512 MiB", "3.2 GiB".
std::string in_words(size_t bytes);

}  // namespace attend::memory
