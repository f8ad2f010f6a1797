// How long a run takes: which of --train.minutes, steps and epochs counts, and what is told before it starts.
#pragma once

#include <functional>
#include <string>

#include "attend/base/options.h"
#include "attend/train/trainer.h"

namespace attend::cli {

/// A flag for the length of a run takes the place of what a recipe says about it, in minutes, steps or epochs. Throws Error
/// where flags give a time and a number.
void settle_length(SettingList& asked);

/// "45 s", "12 min", "1 h 20 min".
std::string rough_time(double seconds);

/// What is told of a run of so many seconds: "about 1 h 20 min: 18400 steps, 20 epochs, 20 validations", and what a
/// shorter one would take if it is more than half an hour.
std::string duration_text(const train::TrainerOptions& options, const train::RunLength& length, double epochs,
                          double seconds);

using Say = std::function<void(const std::string& line)>;
/// Measures the speed of a run that has not begun, sets its steps if they are to fit into train.minutes, of which `spent`
/// seconds are gone, and tells how long it will take. Says nothing of runs that are over in a moment.
void announce_duration(train::Trainer& trainer, double spent, const Say& say);

}  // namespace attend::cli
