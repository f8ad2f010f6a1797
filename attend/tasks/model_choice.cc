#include "attend/tasks/model_choice.h"

#include <algorithm>

#include "attend/base/joined.h"
#include "attend/base/names.h"

namespace attend::tasks {
namespace {
constexpr int64_t kMost = int64_t{1} << 24;  // of any size or number of a network: products of them do not overflow
constexpr std::string_view kModelName = "model.name", kPrefix = "model.", kLettersKind = ".letters.kind";
}

ModelChoice ModelChoice::take(SettingList& settings, std::span<const std::string_view> networks) {
  SettingList own = take_prefix(settings, kPrefix);
  const Setting* named = find_setting(own, kModelName);
  ModelChoice choice{named ? named->value : std::string(networks[0]), {}, networks};
  if (std::ranges::find(networks, choice.name) == networks.end()) refuse_name(kModelName, networks, choice.name);
  std::erase_if(own, [](const Setting& s) { return s.name == kModelName; });
  choice.options = models::model_row(choice.name).options(own, std::string(kPrefix));
  return choice;
}

std::vector<OptionInfo> ModelChoice::with(std::vector<OptionInfo> of_run) const {
  of_run.push_back({std::string(kModelName), name, "the network: " + joined(networks), "text"});
  of_run.insert(of_run.end(), options.begin(), options.end());
  return of_run;
}

void ModelChoice::derive(const Settings& derived) {
  for (OptionInfo& option : options) {
    const auto one = derived.find(std::string(own_name(option)));
    if (one != derived.end()) option.value = one->second;
  }
}

std::string_view ModelChoice::own_name(std::string_view name) {
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : "";
}

bool ModelChoice::reads_letters() const {
  return std::ranges::any_of(
      options, [](const OptionInfo& option) { return option.name.ends_with(kLettersKind) && option.value != "none"; });
}

bool ModelChoice::copies() const { return is_true(".copy"); }
bool ModelChoice::is_told() const { return is_true(".oracle"); }

bool ModelChoice::is_true(std::string_view ending) const {
  return std::ranges::any_of(
      options, [&](const OptionInfo& option) { return option.name.ends_with(ending) && option.value == "true"; });
}

void ModelChoice::check_sizes() const {
  for (const OptionInfo& option : options) {
    if (option.type != "whole number") continue;
    int64_t value = 0;
    detail::parse_option(option.name, option.value, value);
    require(value >= -kMost && value <= kMost, option.name, ": expected at most ", kMost, ", got ", value);
  }
}

std::unique_ptr<models::Model> ModelChoice::make(int64_t seed) const {
  check_sizes();
  Random random = Random(static_cast<uint64_t>(seed)).named("weights");
  return models::make_model(name, settings_of(options, kPrefix), random);
}

}  // namespace attend::tasks
