#include <algorithm>

#include "attend/base/names.h"
#include "attend/tasks/task.h"
#include "attend/tasks/text.h"

namespace attend::tasks {
namespace {

constexpr std::string_view kModelName = "model.name";
/// Where a filter for subwords would leave out a tenth of ordinary sentences.
constexpr int64_t kLongestInCharacters = 500;

std::string value_or(const SettingList& settings, std::string_view name, std::string otherwise) {
  const Setting* found = find_setting(settings, name);
  return found ? found->value : std::move(otherwise);
}

/// The task that was asked for; the one whose corpus it is, where a built-in corpus was.
const TaskRow& task_of(const SettingList& asked) {
  const std::string corpus = value_or(asked, "corpus", "");
  for (const TaskRow& row : tasks()) {
    if (row.corpus == corpus) return row;
  }
  return row_named("task", tasks(), value_or(asked, "task", TextOptions{}.task));
}

/// What the task wants where it is trained on its own corpus, before what was asked for.
SettingList with_task_defaults(const SettingList& asked) {
  const TaskRow& task = task_of(asked);
  const bool files = std::ranges::any_of(
      asked, [](const Setting& s) { return s.name == "source" || s.name == "target" || s.name == "tsv"; });
  if (files) return asked;
  const std::string where = "task " + std::string(task.name);
  SettingList settings{{"corpus", std::string(task.corpus), where}};
  const bool other_model = find_setting(asked, kModelName) != nullptr;  // has options of its own
  for (const TaskSetting& s : task.on_builtin) {
    if (other_model && s.name.starts_with("model.")) continue;
    settings.push_back({std::string(s.name), std::string(s.value), where});
  }
  settings.insert(settings.end(), asked.begin(), asked.end());
  return settings;
}

}  // namespace

TextConfig::TextConfig(const SettingList& asked) {
  SettingList settings = with_task_defaults(asked);
  SettingList of_model = take_prefix(settings, "model.");
  model = value_or(of_model, kModelName, model);
  std::erase_if(of_model, [](const Setting& s) { return s.name == kModelName; });
  model_options = row_named("model.name", models::zoo(), model).options(of_model, "model.");
  refuse_unknown(settings, all());  // before set_options, which does not know the model's: "modle.hidden"
  set_options(options, settings);
  if (options.tokeniser.kind == "characters" && !find_setting(settings, "filter.longest")) {
    options.filter.longest = kLongestInCharacters;
  }
}

std::vector<OptionInfo> TextConfig::all() const {
  std::vector<OptionInfo> everything = describe_options(options);
  std::string names;
  for (const models::ModelRow& row : models::zoo()) names += (names.empty() ? "" : ", ") + std::string(row.name);
  everything.push_back({std::string(kModelName), model, "the network: " + names, "text"});
  everything.insert(everything.end(), model_options.begin(), model_options.end());
  return everything;
}

}  // namespace attend::tasks
