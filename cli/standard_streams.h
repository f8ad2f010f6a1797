// Standard input, output and error of the whole program: what its caller closed, and what could not be written.
#pragma once

namespace attend::cli {

/// Keeps the numbers of streams that the caller closed (`>&-`) from being given to files, which would then receive what
/// is printed. Reading from them and writing to them fails.
void hold_standard_streams();

/// The exit code of a command that returned `code`. If not all that it printed could be written, that is an error,
/// which is told on standard error.
int end_output(int code);

}  // namespace attend::cli
