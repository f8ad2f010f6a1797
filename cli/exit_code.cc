#include "cli/exit_code.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <new>

#include "attend/base/error.h"
#include "attend/dist/company.h"

namespace attend::cli {
namespace {

constexpr size_t kLongest = 1500;
constexpr std::ptrdiff_t kLines = 6;

/// The beginning of what is too long for a message, not cut within a letter of UTF-8.
std::string shortened(const std::string& text) {
  size_t end = std::min(text.size(), kLongest);
  std::ptrdiff_t lines = 0;
  for (size_t i = 0; i < end; ++i) {
    if (text[i] == '\n' && ++lines == kLines) end = i;
  }
  if (end == text.size()) return text;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;
  return text.substr(0, end) + " …";
}

}  // namespace

int exit_code(const std::exception& error) { return dynamic_cast<const UsageError*>(&error) ? 2 : 1; }

std::string message_of(const std::exception& error) {
  if (const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return files->path1().string() + ": " + files->code().message();
  }
  if (dynamic_cast<const std::bad_alloc*>(&error)) return "there is not enough memory";
  return shortened(error.what());
}

int report(std::string_view command, const std::exception& error) {
  const int code = exit_code(error);
  const dist::Launch launch = dist::launch();
  std::string text = "attend";
  if (code == 2 && !command.empty()) text += " " + std::string(command);
  if (launch.size > 1) text += ": rank " + std::to_string(launch.rank);
  text += ": " + message_of(error);
  if (code == 2 && !command.empty()) text += " (see: attend " + std::string(command) + " --help)";
  std::cerr << text + "\n" << std::flush;  // at once: several ranks may have something to say
  return code;
}

}  // namespace attend::cli
