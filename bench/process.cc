#include "bench/process.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "attend/base/error.h"

namespace attend::bench {

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string this_program() {
  std::array<char, 4096> path{};
  require(readlink("/proc/self/exe", path.data(), path.size() - 1) > 0, "bench: cannot find this program");
  return path.data();
}

Finished run_command(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  require(pipe != nullptr, "bench: cannot start ", command);
  Finished result;
  std::string line;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c != '\n') {
      line += static_cast<char>(c);
    } else {
      result.lines.push_back(std::move(line));
      line.clear();
    }
  }
  if (!line.empty()) result.lines.push_back(std::move(line));
  result.succeeded = pclose(pipe) == 0;
  return result;
}

double peak_mebibytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kibibytes = 0;
  while (status >> word) {
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes / 1024;
  }
  throw Error("bench: /proc/self/status does not tell the peak of memory");
}

}  // namespace attend::bench
