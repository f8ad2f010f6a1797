// Lines to standard output or to a file; a write that fails is an error, not silence.
#pragma once

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "attend/base/error.h"

namespace attend::cli {

class OutputLines {
 public:
  explicit OutputLines(const std::string& path) : name_(path.empty() ? "standard output" : path) {
    if (path.empty()) return;
    file_.open(path);
    require(file_.good(), path, ": cannot be written: ", std::strerror(errno));
  }
  void write(const std::string& line) { out() << line << '\n'; }
  /// A part of a line, which is seen at once.
  void write_part(const std::string& part) { out() << part, flush(); }
  void flush() {
    out().flush();
    require(out().good(), name_, ": cannot be written");
  }

 private:
  std::ostream& out() { return file_.is_open() ? static_cast<std::ostream&>(file_) : std::cout; }
  std::string name_;
  std::ofstream file_;
};

}  // namespace attend::cli
