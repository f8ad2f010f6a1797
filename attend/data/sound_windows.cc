#include "attend/data/sound_windows.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/options.h"

namespace attend::data {
namespace {

constexpr double kQuietSeconds = 0.2, kQuietShare = 0.01;  // −20 dB

}  // namespace

void check_windows(const SoundWindowOptions& options) {
  check_bounds(options);
  require_option(options.stride <= options.window, "stride", "expected at most the window, ", options.window, ", got ",
                 options.stride);
}

SoundWindows::SoundWindows(SoundReader reader, const SoundWindowOptions& options)
    : reader_(std::move(reader)), options_(options) {
  check_windows(options);
}

size_t SoundWindows::samples_in(double seconds) const {
  return std::max<size_t>(1, static_cast<size_t>(std::llround(seconds * static_cast<double>(reader_.rate()))));
}

bool SoundWindows::fill() {
  // One sample more than the window has: then it is known whether there is anything behind it.
  const size_t wanted = samples_in(options_.window) + 1, had = samples_.size();
  if (!ended_ && had < wanted) {
    samples_.resize(wanted);
    const size_t got = reader_.read(std::span(samples_).subspan(had));
    ended_ = had + got < wanted;
    samples_.resize(had + got);
  }
  return samples_.size() > known_;
}

SoundWindows::Cut SoundWindows::cut() const {
  const size_t window = samples_in(options_.window), stride = samples_in(options_.stride);
  if (samples_.size() <= window) return {samples_.size(), samples_.size()};
  const size_t quiet = samples_in(kQuietSeconds);
  if (!options_.quiet || window < stride + quiet) return {window, stride};
  double all = 0, sum = 0;
  for (size_t i = 0; i < window; ++i) all += static_cast<double>(samples_[i]) * samples_[i];
  const double limit = kQuietShare * all / static_cast<double>(window) * static_cast<double>(quiet);
  const auto power = [&](size_t i) { return static_cast<double>(samples_[i]) * samples_[i]; };
  for (size_t i = stride; i < stride + quiet; ++i) sum += power(i);
  double least = sum;
  size_t place = stride;
  for (size_t begin = stride + 1; begin + quiet <= window; ++begin) {
    sum += power(begin + quiet - 1) - power(begin - 1);
    if (sum < least) least = sum, place = begin;
  }
  if (least > limit) return {window, stride};
  return {place + quiet / 2, place + quiet / 2};
}

bool SoundWindows::next(SoundWindow& window) {
  if (!fill()) return false;
  const Cut where = cut();
  const double rate = static_cast<double>(reader_.rate());
  const auto end = samples_.begin() + static_cast<ptrdiff_t>(where.end);
  window.sound.rate = reader_.rate();
  window.sound.samples.assign(samples_.begin(), end);
  window.begin = static_cast<double>(at_) / rate;
  window.end = static_cast<double>(at_ + static_cast<int64_t>(where.end)) / rate;
  window.overlap = static_cast<double>(known_) / rate;
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(where.next));
  at_ += static_cast<int64_t>(where.next);
  known_ = where.end - where.next;
  return true;
}

}  // namespace attend::data
