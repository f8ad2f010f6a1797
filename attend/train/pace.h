// How fast a run is, and how much of it fits into a given time.
#pragma once

#include <cstdint>

namespace attend::train {

/// Seconds of an update, as the mean over an epoch, and of a validation with what is saved after it.
struct Pace {
  double step = 0, validation = 0;
};

/// How many updates a run has, and how many there are between two validations; the last update is followed by one, too.
struct RunLength {
  int64_t steps = 0, validate_every = 1;

  int64_t validations() const { return (steps + validate_every - 1) / validate_every; }
};

/// steps · step + validations · validation.
double seconds_of(const RunLength& length, const Pace& pace);

/// The longest run that takes at most `seconds`; no steps if there is time for none. It validates every `validate_every`
/// steps; 0: once an epoch of `an_epoch` steps, or less often where validations would take more than a tenth of the time.
RunLength length_within(double seconds, const Pace& pace, int64_t an_epoch, int64_t validate_every);

/// How often data is read that has so many updates an epoch, if nobody says: 8 times, but enough for 4,000 updates (at most 40
/// times), and no more often than 16,000 updates take.
int64_t usual_epochs(int64_t an_epoch);

/// How many seconds to measure for, before a run of so many: long enough for batches of all sizes, short enough to be no
/// noticeable part of it.
double seconds_to_measure(double run);

}  // namespace attend::train
