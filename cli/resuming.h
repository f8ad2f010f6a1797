// What may change when a run is resumed.
#pragma once

#include <string>
#include <vector>

#include "attend/base/options.h"

namespace attend::cli {

/// `asked`, a recipe's settings and then flags, over those that the run in a folder was saved with.
struct Resumed {
  SettingList settings;              ///< of the run from here on
  std::vector<std::string> changes;  ///< "train.steps: 60 (it was 40)"
};

/// Throws Error where a setting that is asked for would make it another run: its data, its network, how they are batched.
/// Those of search and most of train may change.
Resumed resumed(const SettingList& saved, const SettingList& asked);

}  // namespace attend::cli
