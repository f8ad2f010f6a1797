#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace attend::cli {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Progress::Progress(std::string label, long total)
    : label_(std::move(label)), total_(std::max(1L, total)), terminal_(isatty(STDERR_FILENO) != 0), started_(now()) {}

void Progress::show(long done, const std::string& note) {
  const double time = now(), pause = terminal_ ? 0.1 : 5.0;
  if (time - shown_ < pause) return;
  shown_ = time;
  draw(done, note);
}

void Progress::finish(long done, const std::string& note) {
  draw(done, note);
  if (terminal_) std::fputc('\n', stderr);
}

void Progress::draw(long done, const std::string& note) const {
  constexpr int kWidth = 30;
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0.0, 1.0);
  std::string bar;
  for (int i = 0; i < kWidth; ++i) bar += i < share * kWidth ? "█" : "░";
  const double spent = now() - started_, left = share > 0 ? spent / share - spent : 0;
  std::fprintf(stderr, "%s%s %s %3.0f %%  %s  %.0f s%s%s", terminal_ ? "\r\033[K" : "", label_.c_str(), bar.c_str(),
               100 * share, note.c_str(), share < 1 ? left : spent, share < 1 ? " left" : "", terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace attend::cli
namespace attend::cli {
void Progress::say(const std::string& text) {
  std::fprintf(stderr, "%s%s\n", terminal_ ? "\r\033[K" : "", text.c_str());
}
}  // namespace attend::cli
