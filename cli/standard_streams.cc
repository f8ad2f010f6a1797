#include "cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <string>

#include "attend/base/replacement.h"

namespace attend::cli {

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free, which is this one.
    ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int end_output(int code) {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if ((flushed && std::cout.good() && std::ferror(stdout) == 0) || code != 0) return code;
  const std::string why = reason != 0 ? ": " + system_reason(reason) : "";
  std::cerr << "attend: standard output: cannot be written" << why << '\n';
  return 1;
}

}  // namespace attend::cli
