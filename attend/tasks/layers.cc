#include "attend/tasks/layers.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "attend/base/joined.h"
#include "attend/tasks/task.h"

namespace attend::tasks {
namespace {

constexpr std::string_view kCorpus = "corpus", kNames = "names", kNetworkName = "model.name";

/// Files to train on, of any task, or the built-in corpus in their place.
bool is_training_data(const Setting& setting) {
  const auto reads = [&](const TaskRow& row) {
    return std::ranges::find(row.input().files, setting.name) != row.input().files.end();
  };
  return setting.name == kCorpus || std::ranges::any_of(tasks(), reads);
}

bool is_validation_data(const Setting& setting) {
  constexpr std::string_view kValid = "valid_";
  Setting trained = setting;
  if (!setting.name.starts_with(kValid)) return false;
  trained.name.erase(0, kValid.size());
  return trained.name == kNames || (trained.name != kCorpus && is_training_data(trained));
}

bool is_data(const Setting& setting) {
  return setting.name == kNames || is_training_data(setting) || is_validation_data(setting);
}

bool is_of_network(const Setting& setting) { return setting.name.starts_with("model."); }

/// What of the layer below goes once the layer above has `replaces`, and what a note calls it.
struct Rule {
  std::function<bool(const Setting&)> replaces, belongs;
  std::string what;
};

void apply(const Rule& rule, const SettingList& above, Layered& result) {
  const auto first = std::ranges::find_if(above, rule.replaces);
  if (first == above.end()) return;
  std::vector<std::string> names;
  for (const Setting& setting : result.settings) {
    const bool again = find_setting(above, setting.name) != nullptr;
    const bool noted = std::ranges::find(names, setting.name) != names.end();
    if (rule.belongs(setting) && !again && !noted) names.push_back(setting.name);
  }
  std::erase_if(result.settings, rule.belongs);
  if (names.empty()) return;
  result.notes.push_back(first->where + ": the recipe's own " + rule.what + " not used: " + joined(names));
}

}  // namespace

Layered laid_over(SettingList below, const SettingList& above) {
  Layered result{std::move(below), {}};
  const Setting* const named = find_setting(result.settings, kNetworkName);
  const std::string network = named ? named->value : "";
  const auto another = [&](const Setting& setting) {
    return setting.name == kNetworkName && !network.empty() && setting.value != network;
  };
  for (const Rule& rule : {Rule{is_training_data, is_data, "data is"},
                           Rule{is_validation_data, is_validation_data, "validation data is"},
                           Rule{another, is_of_network, "options of the network " + network + " are"}}) {
    apply(rule, above, result);
  }
  result.settings.insert(result.settings.end(), above.begin(), above.end());
  return result;
}

}  // namespace attend::tasks
