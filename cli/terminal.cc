#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace attend::cli {

using data::display_width;

size_t terminal_width(int file, size_t otherwise) {
  winsize size{};
  if (isatty(file) == 0 || ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return otherwise;
  return size.ws_col;
}

bool true_colour(std::string_view wanted) {
  if (wanted != "auto") return wanted == "always";
  const char* const no = std::getenv("NO_COLOR");
  const char* const has = std::getenv("COLORTERM");
  return ::isatty(STDOUT_FILENO) && !(no && *no) && has &&
         (std::string_view(has) == "truecolor" || std::string_view(has) == "24bit");
}

std::string cut(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  return std::string(text.substr(0, data::bytes_within(text, width - 1))) + "…";
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line.append(" ").append(word);
    } else {
      lines.emplace_back(word);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace attend::cli
