// Schedules: the learning rate as a function of the step. Pure and resumable: rate(s) does not depend on which steps
// were requested before; what `plateau` has learned from validation scores is its visitable state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attend/base/error.h"

namespace attend::train {

/// Visits a number that must survive a restart; a checkpoint reads it, or writes it back.
using VisitNumber = std::function<void(const std::string& name, double& value)>;

/// Each schedule reads only what its formula names.
struct ScheduleOptions {
  std::optional<double> rate = {};  // r; if not given, the table's
  int64_t warmup = 0;               // w, in steps
  int64_t steps = 0;                // T: cosine is at its floor from here on
  double floor = 0;                 // f
  int64_t width = 512;              // d: the model's width
  int64_t every = 1000;             // e, in steps
  double factor = 0.5;              // q; plateau: the rate is multiplied by this,
  int64_t patience = 0;             // after more scores than this in a row without improvement,
  double minimum = 0;               // but does not fall below this;
  double threshold = 1e-4;          // an improvement is larger than this share of the best score
  bool higher_is_better = false;
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  /// The learning rate of step 1, 2, …
  double rate(int64_t step) const;
  /// Reports a validation score. Only `plateau` uses it.
  virtual void observe(double score);
  /// Visits what a checkpoint must keep, such as "plateau.best". Rejects impossible values that are written back.
  virtual void state(const VisitNumber& visit);

 private:
  virtual double rate_at(double step) const = 0;
};

struct ScheduleRow {
  std::string_view name, formula, source;
  double rate;  // used if the options do not set it
  std::unique_ptr<Schedule> (*make)(const ScheduleOptions& options, double rate);
};
/// The menu: help, option checks and tests iterate over it.
std::span<const ScheduleRow> schedules();
/// The schedule of that name; throws Error for an unknown one or for options that it cannot use.
std::unique_ptr<Schedule> make_schedule(std::string_view name, const ScheduleOptions& options = {});

}  // namespace attend::train
