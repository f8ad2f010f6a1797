// Other programs that the benchmarks run: peers, and fresh copies of this one.
#pragma once

#include <string>
#include <vector>

namespace attend::bench {

/// Quoted so that a shell reads it as one word.
std::string shell_word(const std::string& text);
/// The path of the program that is running.
std::string this_program();

struct Finished {
  std::vector<std::string> lines;  // of its standard output
  bool succeeded = false;
};
/// Runs a command by the shell to its end.
Finished run_command(const std::string& command);

/// The peak resident memory of this process since it started, in MiB. Not getrusage's, which starts at what the parent
/// process had.
double peak_mebibytes();

}  // namespace attend::bench
