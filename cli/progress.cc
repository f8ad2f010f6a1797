#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cli/quiet.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

constexpr double kRedraw = 0.1, kFirstLine = 5, kLastLine = 60, kGrowth = 1.3;

std::string bar(double share, size_t width) {
  std::string text;
  for (size_t i = 0; i < width; ++i) text += static_cast<double>(i) < share * static_cast<double>(width) ? "█" : "░";
  return text;
}

}  // namespace

std::string clock_time(double seconds) {
  const auto all = static_cast<long>(std::lround(std::clamp(seconds, 0.0, 1e9)));
  char text[32];
  if (all < 3600) {
    std::snprintf(text, sizeof(text), "%ld:%02ld", all / 60, all % 60);
  } else {
    std::snprintf(text, sizeof(text), "%ld:%02ld:%02ld", all / 3600, all / 60 % 60, all % 60);
  }
  return text;
}

std::string short_number(double number) {
  struct Unit {
    double from, size;
    const char* form;
  };
  // From where the smaller unit would be rounded up to 1000.
  constexpr Unit kUnits[] = {
      {999'950'000, 1e9, "%.1fG"}, {999'950, 1e6, "%.1fM"}, {999.5, 1e3, "%.1fk"}, {0, 1, "%.0f"}};
  char text[32];
  for (const Unit& unit : kUnits) {
    if (!(std::abs(number) >= unit.from)) continue;
    std::snprintf(text, sizeof(text), unit.form, number / unit.size);
    return text;
  }
  return "?";  // not a number
}

Progress::Progress(std::string label, long total, std::FILE* out, long done_before, Seconds now)
    : label_(std::move(label)),
      total_(std::max(0L, total)),
      done_before_(done_before),
      out_(out),
      now_(std::move(now)),
      terminal_(isatty(fileno(out)) != 0),
      started_(now_()),
      shown_(terminal_ ? -std::numeric_limits<double>::infinity() : started_),
      pause_(terminal_ ? kRedraw : kFirstLine) {}

Progress::~Progress() {
  // An error that is reported next begins on a line of its own.
  if (!drawn_.empty()) std::fputc('\n', out_);
}

void Progress::show(long done, const std::string& note) {
  if (quiet()) return;
  const double time = now_();
  if (time - shown_ < pause_) return;
  shown_ = time;
  if (!terminal_) pause_ = std::min(pause_ * kGrowth, kLastLine);
  draw(done, note);
}

void Progress::finish(long done, const std::string& note) {
  if (quiet()) return;
  draw(done, note);
  if (terminal_) std::fputc('\n', out_);
  std::fflush(out_);
  drawn_.clear();
}

void Progress::say(std::string_view text) {
  if (quiet()) return;
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::fprintf(out_, "%s%.*s\n%s", drawn_.empty() ? "" : "\r\033[K", static_cast<int>(text.size()), text.data(),
               drawn_.c_str());
  std::fflush(out_);
}

void Progress::draw(long done, const std::string& note) {
  // One column stays free: some terminals wrap when the last one is written.
  const std::string text = line(done, note, terminal_ ? std::max<size_t>(terminal_width(fileno(out_), 80), 2) - 1 : 0);
  std::fprintf(out_, "%s%s%s", terminal_ ? "\r\033[K" : "", text.c_str(), terminal_ ? "" : "\n");
  std::fflush(out_);
  if (terminal_) drawn_ = text;
}

/// Of at most `width` columns; 0: as long as it is.
std::string Progress::line(long done, const std::string& note, size_t width) const {
  constexpr size_t kBar = 30, kLeastBar = 8;
  const double spent = now_() - started_;
  const std::string label = label_.empty() ? "" : label_ + " ", tail = note.empty() ? "" : "  " + note;
  if (total_ == 0) {
    const std::string text = label + std::to_string(done) + tail + "  " + clock_time(spent);
    return width == 0 ? text : cut(text, width);
  }
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0.0, 1.0);
  char percent[16];
  std::snprintf(percent, sizeof(percent), " %3.0f %%", std::floor(100 * share));
  std::string rest = percent + tail;
  if (share >= 1) {
    rest += "  " + clock_time(spent);
  } else if (done > done_before_) {
    const double left = static_cast<double>(total_ - done) / static_cast<double>(done - done_before_);
    rest += "  ETA " + clock_time(spent * left);
  }
  size_t bar_width = kBar;
  if (width > 0) {  // the bar gives way first
    const size_t others = data::display_width(label) + data::display_width(rest);
    bar_width = std::clamp(width > others ? width - others : 0, kLeastBar, kBar);
  }
  const std::string text = label + bar(share, bar_width) + rest;
  return width == 0 ? text : cut(text, width);
}

}  // namespace attend::cli
