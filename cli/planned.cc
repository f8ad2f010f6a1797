#include "cli/planned.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/tasks/data_files.h"
#include "attend/tasks/model_folder.h"
#include "cli/training.h"
#include "cli/variants.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

/// What differs between two configurations: "train.epochs was 3, now 4"; "" if nothing does. What follows from the data is a
/// result of training.
std::string difference(const tasks::TaskConfig& before, const tasks::TaskConfig& now) {
  if (before.model.name != now.model.name) return "model.name was " + before.model.name + ", now " + now.model.name;
  const std::vector<OptionInfo> old = before.all();
  const auto is_derived = [&](const std::string& name) {
    return name == "size" || name == "channels" ||
           now.row().derives(now.model.name, tasks::ModelChoice::own_name(name));
  };
  for (const OptionInfo& option : now.all()) {
    if (is_derived(option.name)) continue;
    const auto found = std::ranges::find(old, option.name, &OptionInfo::name);
    const std::string was = found == old.end() ? "" : found->value;
    if (was != option.value)
      return option.name + " was " + attend::quoted(was) + ", now " + attend::quoted(option.value);
  }
  return "";
}

/// The files that models learn from: most often the same for all of them, and then read once.
class SharedData {
 public:
  /// How they differ from those that the model in that folder has learned from; "" if they do not, or that is not known.
  std::string difference(const PlannedRun& run) {
    const auto before = tasks::saved_data_files(run.folder);
    if (!before) return "";
    const std::vector<std::string> names = tasks::data_paths(run.config);
    auto found = known_.find(names);
    if (found == known_.end()) found = known_.emplace(names, tasks::data_files(run.config)).first;
    return tasks::data_difference(*before, found->second);
  }

 private:
  std::map<std::vector<std::string>, std::vector<tasks::DataFile>> known_;
};

/// A run as its share of the bar for all of them.
class SharedBar : public RunView {
 public:
  SharedBar(Progress& progress, size_t index) : progress_(progress), done_(kShare * static_cast<long>(index)) {}
  void say(const std::string& text) override { progress_.say(text); }
  void begin(int64_t step, int64_t steps) override {
    steps_ = std::max<int64_t>(1, steps);
    progress_.skip(share(step));
  }
  void show(int64_t step, const std::string& note) override { progress_.show(done_ + share(step), note); }
  void end(int64_t step, const std::string& note) override { show(step, note); }
  std::string how_to_resume(const std::string&) const override { return "the same command"; }

 private:
  long share(int64_t step) const { return kShare * step / steps_; }

  Progress& progress_;
  long done_;
  int64_t steps_ = 1;
};

}  // namespace

void place(std::vector<PlannedRun>& runs, const std::string& out, bool force) {
  std::set<std::string> taken, names;
  SharedData data;
  for (PlannedRun& run : runs) {
    require_usage(names.insert(run.name).second, "models need different names, got two called ", quoted(run.name),
                  "; rename one of the folders or recipes");
    if (run.trained) continue;
    const std::string first = slug(run.name);
    std::string name = first;
    for (int i = 2; !taken.insert(name).second; ++i) name = first + "-" + std::to_string(i);
    run.folder = (fs::path(out) / "models" / name).string();
    if (!tasks::has_model(run.folder)) continue;
    const std::string changed = difference(tasks::read_config(run.folder), run.config);
    const std::string other_data = changed.empty() ? data.difference(run) : "";
    run.afresh = !changed.empty() || !other_data.empty();
    require_usage(!run.afresh || force, run.folder, " was trained with other ", changed.empty() ? "data" : "options",
                  " (", changed, other_data, "): --force trains afresh what has changed; or name another --out");
  }
}

int train_planned(const PlannedRun& run, Progress& progress, size_t index) {
  const bool there = !run.afresh && tasks::has_model(run.folder);
  if (run.trained || (there && finished(run.folder))) {
    if (!run.trained) complete_card(run.folder);
    progress.skip(kShare);
    progress.say(run.name + ": trained before (" + run.folder + ")");
    return 0;
  }
  SharedBar view(progress, index);
  return train_in(run.settings, run.folder, {.resume = there}, view);
}

}  // namespace attend::cli
