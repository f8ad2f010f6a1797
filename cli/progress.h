// A progress bar on standard error: redrawn in place on a terminal, a line now and then elsewhere.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "attend/base/clock.h"

namespace attend::cli {

class Progress {
 public:
  /// `total` 0: not known; then there is no bar, and no time left. `done_before`: what was done before, in no time of this run.
  Progress(std::string label, long total, std::FILE* out = stderr, long done_before = 0, Seconds now = steady_seconds);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows `done` of the total and a note ("loss 2.134  12.3k tok/s"): ten times a second on a terminal; elsewhere after
  /// 5 seconds, then in growing intervals up to a minute.
  void show(long done, const std::string& note);
  /// The last state, and a new line.
  void finish(long done, const std::string& note);
  /// What is being done now: the next of several runs under one bar.
  void relabel(std::string label) { label_ = std::move(label); }
  /// So much of the total is done already, in no time of this run.
  void skip(long done) { done_before_ += done; }
  /// Lines of their own above the bar, which goes on below them.
  void say(std::string_view text);

 private:
  void draw(long done, const std::string& note);
  std::string line(long done, const std::string& note, size_t width) const;

  std::string label_;
  long total_, done_before_;
  std::FILE* out_;
  Seconds now_;
  bool terminal_;
  double started_, shown_, pause_;
  std::string drawn_;  // what stands in the terminal's last line
};

/// "0:07", "3:21", "1:02:03".
std::string clock_time(double seconds);
/// "950", "12.3k", "4.5M".
std::string short_number(double number);

}  // namespace attend::cli
