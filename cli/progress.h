// A progress bar on standard error: redrawn in place on a terminal, a line now and then elsewhere.
#pragma once

#include <string>

namespace attend::cli {

class Progress {
 public:
  Progress(std::string label, long total);
  /// Shows `done` of the total and a short note ("loss 0.12"); at most ten times a second.
  void show(long done, const std::string& note);
  void say(const std::string& text);
  /// The last state, and a new line.
  void finish(long done, const std::string& note);

 private:
  void draw(long done, const std::string& note) const;
  std::string label_;
  long total_;
  bool terminal_;
  double started_, shown_ = 0;
};

}  // namespace attend::cli
