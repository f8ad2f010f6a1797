// Which network a run trains, with all of its options: the part of a recipe under "model:".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/base/options.h"
#include "attend/models/zoo.h"

namespace attend::tasks {

struct ModelChoice {
  std::string name;
  std::vector<OptionInfo> options;  ///< "model.hidden"
  models::Reads reads = models::Reads::words;

  /// Takes what begins with "model." out of `settings`; without a name it is `otherwise`. Refuses a network that reads
  /// something else.
  static ModelChoice take(SettingList& settings, const std::string& otherwise, models::Reads reads);
  /// A run's options and these.
  std::vector<OptionInfo> with(std::vector<OptionInfo> of_run) const;
  /// Sets those of its options that follow from the data (names without "model."); one that it has not is passed over.
  void find_out(const Settings& found);
  std::unique_ptr<models::Model> make(int64_t seed) const;
};

}  // namespace attend::tasks
