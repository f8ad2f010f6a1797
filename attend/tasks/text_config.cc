#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/tasks/task.h"
#include "attend/tasks/text.h"

namespace attend::tasks {
namespace {

/// Where a filter for subwords would leave out a tenth of ordinary sentences.
constexpr int64_t kLongestInCharacters = 500;

}  // namespace

TextConfig::TextConfig(const SettingList& asked) {
  const TaskRow& task = task_of(asked);
  require(task.family == &kText, "task: one that reads text is wanted here, such as translate, got ", task.name,
          ", which reads ", task.family->name);
  SettingList settings = with_task_defaults(asked);
  model = ModelChoice::take(settings, "transformer", models::Reads::words);
  refuse_unknown(settings, all());  // before set_options, which does not know the model's: "modle.hidden"
  set_options(options, settings);
  if (options.tokeniser.kind == "characters" && !find_setting(settings, "filter.longest")) {
    options.filter.longest = kLongestInCharacters;
  }
}

std::vector<OptionInfo> TextConfig::all() const { return model.with(describe_options(options)); }

}  // namespace attend::tasks
