#include "cli/resuming.h"

#include <algorithm>
#include <string_view>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/tasks/config.h"
#include "attend/tasks/data_files.h"
#include "cli/training.h"

namespace attend::cli {
namespace {

bool may_change(std::string_view name) {
  // The seed makes the built-in pairs and those held out; an optimiser has a memory of its own, and scores of different
  // kinds cannot be compared. A time was measured when the run began.
  constexpr std::string_view kFixed[] = {"train.seed", "train.optimiser", "train.best_by", "train.minutes"};
  if (std::ranges::find(kFixed, name) != std::end(kFixed)) return false;
  return name.starts_with("train.") || name.starts_with("search.") || name == "valid_sentences" ||
         name == "scored_images";
}

std::vector<OptionInfo> options_of(const SettingList& settings) { return tasks::TaskConfig(settings).all(); }

/// On one line; a list has one entry per line.
std::string shown(std::string value) {
  std::ranges::replace(value, '\n', ' ');
  return value.empty() ? "none" : value;
}

[[noreturn]] void refuse(const Setting& setting, const std::string& was, const std::string& is) {
  fail_usage(detail::place_of(setting), ": a resumed run keeps what it began with, ", shown(was), ", got ", shown(is),
       "; start another run with another --out");
}

/// The value that the setting gives, as options print it: 1e-3 and 0.001 are the same.
std::string printed(SettingList saved, const Setting& setting) {
  if (setting.name == "model.name") return setting.value;  // another network has options of its own
  saved.push_back(setting);
  return value_of(options_of(saved), setting.name);
}

}  // namespace

std::vector<std::string> options_of_pipes(const std::string& out) {
  std::vector<std::string> names;
  for (const tasks::DataFile& file : tasks::saved_data_files(out).value_or(std::vector<tasks::DataFile>{})) {
    if (file.pipe && std::ranges::find(names, file.option) == names.end()) names.push_back(file.option);
  }
  return names;
}

Resumed resumed(const SettingList& saved, const SettingList& asked, const std::vector<std::string>& pipes) {
  const std::vector<OptionInfo> before = options_of(saved);
  Resumed result{saved, {}};
  if (const Setting* model = find_setting(asked, "model.name");
      model && model->value != value_of(before, "model.name")) {
    refuse(*model, value_of(before, "model.name"),
           model->value);  // before its options, which the run's model may not have
  }
  for (const std::string& name : pipes) {
    std::string flag = "--" + name;
    std::ranges::replace(flag, '_', '-');
    require_usage(find_setting(asked, name) != nullptr, flag,
                  " is needed: the run read it from a pipe, which is gone; give it again, or a file with the same "
                  "contents");
  }
  const auto may_differ = [&](const std::string& name) {
    return may_change(name) || std::ranges::find(pipes, name) != pipes.end();
  };
  const tasks::TaskRow& row = tasks::task_of(saved);
  const std::string network = value_of(before, "model.name");
  for (const Setting& setting : asked) {
    const bool last = find_setting(asked, setting.name) == &setting;  // a flag comes after the recipe
    if (!last || row.derives(network, tasks::ModelChoice::own_name(setting.name))) continue;
    const std::string was = value_of(before, setting.name), is = printed(saved, setting);
    if (was != is && !may_differ(setting.name)) refuse(setting, was, is);
    result.settings.push_back(setting);
    // Another number of steps than the time gave.
    const bool number = setting.name == "train.steps" || setting.name == "train.epochs";
    if (number && setting.where.starts_with("--")) result.settings.push_back({"train.minutes", "0", setting.where});
  }
  for (const OptionInfo& option : options_of(result.settings)) {
    const std::string was = value_of(before, option.name);
    if (was != option.value)
      result.changes.push_back(option.name + ": " + shown(option.value) + " (it was " + shown(was) + ")");
  }
  return result;
}

}  // namespace attend::cli
