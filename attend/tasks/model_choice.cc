#include "attend/tasks/model_choice.h"

#include <algorithm>

#include "attend/base/names.h"

namespace attend::tasks {
namespace {

constexpr std::string_view kModelName = "model.name", kPrefix = "model.";

std::vector<std::string_view> names_of(models::Reads reads) {
  std::vector<std::string_view> names;
  for (const models::ModelRow& row : models::zoo()) {
    if (row.reads == reads) names.push_back(row.name);
  }
  return names;
}

}  // namespace

ModelChoice ModelChoice::take(SettingList& settings, const std::string& otherwise, models::Reads reads) {
  SettingList own = take_prefix(settings, kPrefix);
  const Setting* named = find_setting(own, kModelName);
  ModelChoice choice{named ? named->value : otherwise, {}, reads};
  const std::vector<std::string_view> names = names_of(reads);
  if (std::ranges::find(names, choice.name) == names.end()) refuse_name(kModelName, names, choice.name);
  std::erase_if(own, [](const Setting& s) { return s.name == kModelName; });
  choice.options = models::model_row(choice.name).options(own, std::string(kPrefix));
  return choice;
}

std::vector<OptionInfo> ModelChoice::with(std::vector<OptionInfo> of_run) const {
  std::string names;
  for (const std::string_view one : names_of(reads)) names += (names.empty() ? "" : ", ") + std::string(one);
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
