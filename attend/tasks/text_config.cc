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
