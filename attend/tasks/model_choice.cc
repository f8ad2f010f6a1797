#include "attend/tasks/model_choice.h"

#include "attend/base/names.h"

namespace attend::tasks {
namespace {

constexpr std::string_view kModelName = "model.name", kPrefix = "model.";

}  // namespace

ModelChoice ModelChoice::take(SettingList& settings, const std::string& otherwise) {
  SettingList own = take_prefix(settings, kPrefix);
  const Setting* named = find_setting(own, kModelName);
  ModelChoice choice{named ? named->value : otherwise, {}};
  std::erase_if(own, [](const Setting& s) { return s.name == kModelName; });
  choice.options = row_named(kModelName, models::zoo(), choice.name).options(own, std::string(kPrefix));
  return choice;
}

std::vector<OptionInfo> ModelChoice::with(std::vector<OptionInfo> of_run) const {
  std::string names;
  for (const models::ModelRow& row : models::zoo()) names += (names.empty() ? "" : ", ") + std::string(row.name);
  of_run.push_back({std::string(kModelName), name, "the network: " + names, "text"});
  of_run.insert(of_run.end(), options.begin(), options.end());
  return of_run;
}

void ModelChoice::find_out(const Settings& found) {
  for (OptionInfo& option : options) {
    const auto one = found.find(option.name.substr(kPrefix.size()));
    if (one != found.end()) option.value = one->second;
  }
}

std::unique_ptr<models::Model> ModelChoice::make(int64_t seed) const {
  Random random = Random(static_cast<uint64_t>(seed)).named("weights");
  return models::make_model(name, settings_of(options, kPrefix), random);
}

}  // namespace attend::tasks
