// The lab: claims about attention, each shown by models that the program trains on data that it makes itself. An experiment
// is a row of a table and a short file: which models it needs, and what is reported of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/options.h"
#include "lab/report.h"
#include "lab/results.h"

namespace attend::lab {

/// A model that an experiment needs: a task, with these options over its own.
struct Run {
  std::string name;      ///< "additive"; unique within an experiment
  std::string settings;  ///< "task=translate model.attention.score=additive", the task first; values have no blanks

  SettingList list() const;
};

struct Experiment {
  std::string_view name;   ///< "bottleneck"
  std::string_view title;  ///< "What one vector forgets"
  std::string_view claim;  ///< a sentence
  int minutes;             ///< that all of it takes, roughly, on two cores
  int seeds;               ///< how often each model is trained, unless it is said; once if it is quick
  std::vector<Run> (*runs)(Scale scale);
  void (*report)(const Results& results, Report& report);
};
/// In the order in which they are taught.
std::span<const Experiment> experiments();
const Experiment& experiment_named(std::string_view name);

/// What came of an experiment whose models are trained: the report without what all reports have in common.
Report report_of(const Experiment& experiment, const Results& results);

}  // namespace attend::lab
