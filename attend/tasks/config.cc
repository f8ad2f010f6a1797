#include "attend/tasks/config.h"

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/train/scores.h"

namespace attend::tasks {
namespace {

/// With characters, a filter meant for subwords would leave out a tenth of ordinary sentences.
constexpr int64_t kLongestInCharacters = 500;

/// Refuses a score that validations will not have: now, not after the first epoch.
void check_best_by(const TaskOptions& options) {
  std::vector<std::string_view> known{"loss"};
  if (options.scored != 0 || !options.row->input().streamed) {
    for (const std::string_view name : options.row->scores) {
      if (train::score_named(name).better > 0) known.push_back(name);  // what falls is followed by the loss
    }
  }
  for (const std::string_view one : known) {
    if (one == options.train.best_by) return;
  }
  refuse_name("train.best_by", known, options.train.best_by);
}

}  // namespace

std::vector<std::string> TextFiles::all() const {
  std::vector<std::string> names;
  for (const auto* list : {&source, &target, &tsv, &data}) names.insert(names.end(), list->begin(), list->end());
  return names;
}

TaskConfig::TaskConfig(const SettingList& asked) : options(task_of(asked)) {
  SettingList settings = with_task_defaults(asked);
  model = ModelChoice::take(settings, row().networks);
  refuse_unknown(settings, all());  // before set_options, which does not know the network's: "modle.hidden"
  set_options(options, settings);
  options.task = row().name;
  if (options.tokeniser.kind == "characters" && !find_setting(settings, "filter.longest")) {
    options.filter.longest = kLongestInCharacters;
  }
}

std::vector<OptionInfo> TaskConfig::all() const { return model.with(describe_options(options)); }

void TaskConfig::check() const {
  check_best_by(options);
  require(options.scored >= 0, row().input().streamed ? "valid_sentences" : "scored_images",
          ": expected at least 0, got ", options.scored);
  require(options.held_out >= 0 && options.held_out < 1, "held_out: expected a share from 0 to 1, got ",
          options.held_out);
  require(options.batch.images >= 1, "batch.images: expected at least 1, got ", options.batch.images);
  require(options.batch.captions >= 0, "batch.captions: expected at least 0, got ", options.batch.captions);
  decode::check(options.search);
  if (!row().input().streamed) return;  // the size of images decides whether their network can be built
  ModelChoice tried = model;
  const std::string few = std::to_string(data::kFirstWord + 1);
  for (OptionInfo& option : tried.options) {
    if (row().derives(ModelChoice::own_name(option))) option.value = few;
  }
  (void)tried.make(0);
}

}  // namespace attend::tasks
