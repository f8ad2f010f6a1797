// Instruction sets: which one the kernels run with, and a cap for tests and measurements.
#pragma once

#include <string>
#include <vector>

namespace attend::kernels {

/// The instruction sets that both this processor and this binary support, best first: "avx512", "avx2", "sse4".
std::vector<std::string> instruction_sets();
/// The one in use.
std::string instruction_set();
/// Uses at most this set from now on, in oneDNN too unless it has already run; "" lifts the cap for our kernels.
/// Throws Error for a name that is not in instruction_sets(). `ATTEND_ISA` in the environment does the same at start.
void cap_instruction_set(const std::string& name);
/// The processor's name as the system gives it.
std::string processor();

}  // namespace attend::kernels
