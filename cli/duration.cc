#include "cli/duration.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "attend/base/error.h"

namespace attend::cli {
namespace {

constexpr double kLong = 30 * 60;           // seconds; longer runs come with a shorter choice
constexpr double kShort = 20;               // of which nothing is said
constexpr double kMeasure = 2;              // long enough for "about"
constexpr int64_t kStepsWorthMeasuring = 200;  // a rehearsal would be a good part of fewer

constexpr std::string_view kMinutes = "train.minutes", kNumbers[] = {"train.steps", "train.epochs"};

bool is_time(const Setting& setting) { return setting.name == kMinutes; }
bool is_number(const Setting& setting) { return std::ranges::find(kNumbers, setting.name) != std::end(kNumbers); }

/// The flag that asks for a length of this kind; null if there is none.
const Setting* asking_flag(const SettingList& asked, bool (*kind)(const Setting&)) {
  const auto asks = [&](const Setting& s) { return kind(s) && s.where.starts_with("--") && s.value != "0"; };
  const auto found = std::ranges::find_if(asked, asks);
  return found == asked.end() ? nullptr : &*found;
}

std::string amount(double count, std::string_view what) {
  char text[32];
  std::snprintf(text, sizeof(text), count < 10 && count != std::floor(count) ? "%.1f" : "%.0f", count);
  return std::string(text) + " " + std::string(what) + (count == 1 ? "" : "s");
}

/// What to ask for in place of `options` so that it takes half an hour at most, and how long that would take.
std::string shorter(const train::TrainerOptions& options, const train::RunLength& length, double epochs,
                    double seconds) {
  const double share = kLong / seconds;
  const auto fewer_epochs = static_cast<int64_t>(epochs * share);
  std::string text = "  in less time: --train.minutes 30, which sets the steps and the schedule to fit; or ";
  if (options.steps == 0 && fewer_epochs >= 1) {
    return text + "--train.epochs " + std::to_string(fewer_epochs) + ", about " +
           rough_time(seconds * static_cast<double>(fewer_epochs) / epochs);
  }
  const auto fewer_steps = static_cast<int64_t>(static_cast<double>(length.steps) * share);
  return text + "--train.steps " + std::to_string(fewer_steps) + ", about " + rough_time(kLong);
}

}  // namespace

void settle_length(SettingList& asked) {
  const Setting *time = asking_flag(asked, is_time), *number = asking_flag(asked, is_number);
  require_usage(!time || !number, "--", kMinutes, " or --", number ? number->name : "",
          ", not both: the time sets the number of steps");
  if (time) {
    std::erase_if(asked, is_number);
  } else if (number) {
    std::erase_if(asked, is_time);
  }
}

std::string rough_time(double seconds) {
  if (seconds < 60) return std::to_string(std::lround(seconds)) + " s";
  const long minutes = std::lround(std::min(seconds, 1e9) / 60);
  if (minutes < 60) return std::to_string(minutes) + " min";
  const std::string hours = std::to_string(minutes / 60) + " h";
  return minutes % 60 == 0 ? hours : hours + " " + std::to_string(minutes % 60) + " min";
}

std::string duration_text(const train::TrainerOptions& options, const train::RunLength& length, double epochs,
                          double seconds) {
  std::string text = "this will take about " + rough_time(seconds) + ": " +
                     amount(static_cast<double>(length.steps), "step") + ", " + amount(epochs, "epoch") + ", " +
                     amount(static_cast<double>(length.validations()), "validation");
  if (seconds > kLong && options.minutes == 0) text += "\n" + shorter(options, length, epochs, seconds);
  return text;
}

void announce_duration(train::Trainer& trainer, double spent, const Say& say) {
  const bool fits = trainer.awaits_fit();
  if (trainer.step() > 0 || (!fits && trainer.steps() < kStepsWorthMeasuring)) return;
  const double whole = 60 * trainer.options().minutes, begun = trainer.now();
  train::Pace pace = trainer.rehearse(fits ? train::seconds_to_measure(whole) : 0);
  if (!fits && trainer.seconds(pace) > 60 * kMeasure) pace = trainer.rehearse(kMeasure);
  if (fits) trainer.fit(whole - spent - (trainer.now() - begun), pace);
  const double left = trainer.seconds(pace);
  if (fits || left > kShort) say(duration_text(trainer.options(), trainer.length(), trainer.epochs(), left));
}

}  // namespace attend::cli
