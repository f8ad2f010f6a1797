// Settings in layers: a recipe over the one that it extends, flags over a recipe. Later values count; what belongs to
// data or to a network that a layer replaces goes with it.
#pragma once

#include <string>
#include <vector>

#include "attend/base/options.h"

namespace attend::tasks {

struct Layered {
  SettingList settings;
  /// What was left out of the lower layer for another reason than being set again, one sentence for each reason.
  std::vector<std::string> notes;
};

/// `below` with `above` on top. Of `below` is left out
///   - all data, where `above` names files or a corpus to train on: no model is validated on files of somebody else;
///   - all validation data, where `above` names files to validate with;
///   - all options of the network, where `above` names another network than `below`.
Layered laid_over(SettingList below, const SettingList& above);

}  // namespace attend::tasks
