// `attend`, run as its users run it.
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "tests/support/text.h"

namespace attend::test {

struct Result {
  int code = -1;
  std::string output;
};

/// Runs a command through a shell.
inline Result shell(const std::string& command) {
  Result result;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> part{};
  for (size_t count; (count = fread(part.data(), 1, part.size(), pipe)) > 0;) result.output.append(part.data(), count);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

/// Runs `attend` through a shell. `arguments` may redirect; `environment` goes before the command.
inline Result attend_with(const std::string& arguments, const std::string& environment = "") {
  return shell(environment + " '" ATTEND_BINARY "' " + arguments);
}

inline auto lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace attend::test
