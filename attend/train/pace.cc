#include "attend/train/pace.h"

#include <algorithm>
#include <cmath>

namespace attend::train {
namespace {

constexpr double kRounding = 1e-9;  // 10 s are 200 steps of 0.05 s, whatever the quotient of these numbers is
constexpr double kMostOnValidation = 0.1;  // of the time, if the interval is ours to choose

}  // namespace

double seconds_of(const RunLength& length, const Pace& pace) {
  return static_cast<double>(length.steps) * pace.step + static_cast<double>(length.validations()) * pace.validation;
}

RunLength length_within(double seconds, const Pace& pace, int64_t an_epoch, int64_t validate_every) {
  RunLength length{0, validate_every};
  if (validate_every == 0) {
    const double rare = std::ceil(pace.validation / (kMostOnValidation * pace.step));
    length.validate_every = std::max({int64_t{1}, an_epoch, static_cast<int64_t>(std::min(rare, 0x1p53))});
  }
  // As many whole intervals as there is time for. What is left may hold a shorter one, which has a validation of its own.
  const double every = static_cast<double>(length.validate_every), interval = every * pace.step + pace.validation;
  const double whole = std::floor(seconds / interval + kRounding), left = seconds - whole * interval - pace.validation;
  length.steps = static_cast<int64_t>(std::min(whole * every + std::max(0.0, std::floor(left / pace.step + kRounding)), 0x1p53));
  return length;
}

int64_t usual_epochs(int64_t an_epoch) {
  constexpr int64_t kUsual = 8, kFewest = 4'000, kMost = 16'000, kOften = 40;
  const int64_t updates = std::clamp(kUsual * an_epoch, kFewest, kMost);
  return std::clamp<int64_t>((updates + an_epoch - 1) / an_epoch, 1, kOften);
}

double seconds_to_measure(double run) { return std::clamp(run / 50, 0.5, 20.0); }

}  // namespace attend::train
