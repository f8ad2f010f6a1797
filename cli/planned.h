// Several trainings of one command, under one bar: each model in a folder of its own, trained once. The same command goes on where
// it was interrupted, and refuses to train over a model that was made with other options or of other data.
#pragma once

#include <string>
#include <vector>

#include "attend/base/options.h"
#include "attend/tasks/config.h"
#include "cli/progress.h"

namespace attend::cli {

struct PlannedRun {
  std::string name;     ///< its folder is named after it
  std::string options;  ///< what sets it apart, to show
  std::string folder;
  SettingList settings;
  tasks::TaskConfig config{settings};
  bool trained = false;  ///< a folder that was given; it is taken as it is
  bool afresh = false;   ///< there is one with other options in its place
};

/// Gives each a folder below `out`/models. Throws UsageError where two have one name, and where one would be trained over a
/// model of other options or data, unless `force`.
void place(std::vector<PlannedRun>& runs, const std::string& out, bool force);

/// Of the bar, for each model.
inline constexpr long kShare = 1000;
/// Trains the `index`th of them, unless it is trained; the exit code of train_in.
int train_planned(const PlannedRun& run, Progress& progress, size_t index);

}  // namespace attend::cli
