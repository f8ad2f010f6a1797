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
/// Those of search and most of train may change. `pipes`: options that named pipes, which have to be asked for again, by
/// whatever name the data has now.
Resumed resumed(const SettingList& saved, const SettingList& asked, const std::vector<std::string>& pipes = {});
/// Those of the run in a folder.
std::vector<std::string> options_of_pipes(const std::string& out);

}  // namespace attend::cli
