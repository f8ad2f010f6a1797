// `attend train`: from a recipe, or a task's name, to a trained model in a folder.
#include <filesystem>
#include <iostream>
#include <memory>

#include "attend/base/error.h"
#include "attend/base/recipe.h"
#include "attend/dist/company.h"
#include "attend/tasks/config.h"
#include "attend/tasks/layers.h"
#include "attend/tasks/model_folder.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/flags.h"
#include "cli/quiet.h"
#include "cli/resuming.h"
#include "cli/training.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

struct TrainCommand {
  std::string out;
  bool resume = false, changed_data = false, force = false, dump_config = false;
  double timeout = dist::kPatience;
  bool send_late = false;
  ThreadOption threads;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("out", out, "folder of the model");
    visit("resume", resume, "resume the run in that folder");
    visit("changed_data", changed_data,
          "with --resume: even if files to train or validate with are not what they were");
    visit("force", force, "start afresh; the model that is in that folder stays until the first checkpoint",
          bounds::destructive());
    visit("dump_config", dump_config, "print all options with their values as a recipe, and do nothing");
    threads.fields(visit);
    visit("timeout", timeout,
          "several ranks (mpirun): seconds after which a rank that does not answer counts as lost, which ends the run; "
          "0: never",
          bounds::at_least(0));
    visit("send_late", send_late,
          "several ranks: send gradients after the backward pass, not during it; to measure what that is worth");
  }
};

/// Which other options there are, and their defaults, depends on these.
std::vector<std::string> options_others_depend_on() {
  std::vector<std::string> names{"task", "corpus", "model.name"};
  for (const tasks::TaskRow& row : tasks::tasks()) {
    for (const std::string_view file : row.input().files) names.emplace_back(file);
  }
  return names;
}

/// For the help: what a task's own corpus wants is not what files get.
std::string note_on_defaults(const std::vector<OptionInfo>& defaults) {
  const std::string task = value_of(defaults, "task");
  if (value_of(defaults, "corpus").empty()) return "";
  const tasks::TaskRow& row = tasks::task_named(task);
  const std::string_view file = row.format == "pairs" ? "tsv" : row.input().streamed ? "data" : row.input().files[0];
  return "\n\nDefaults in brackets are for the built-in corpus of " + task +
         "; files of your own have others:\n  attend train " + task + " --" + std::string(file) + " FILE --help";
}

}  // namespace

int train(int argc, char** argv) {
  const std::unique_ptr<train::Company> company = dist::company();
  if (!company->leads()) return follow(*company);
  Followers followers(*company);
  const std::string subject = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
  TrainCommand run;
  const auto out = peek_flag(argc, argv, "out");
  const bool resumes = peek_switch(argc, argv, "resume") && out && tasks::has_model(*out);
  SettingList asked, known;
  if (!subject.empty()) asked = settings_of_subject(subject);
  if (resumes) {
    known = tasks::read_config(*out).given;
  } else {
    SettingList peeked;
    for (const std::string& name : options_others_depend_on()) {
      if (const auto value = peek_flag(argc, argv, name)) peeked.push_back({name, *value, "--" + name});
    }
    known = tasks::laid_over(asked, peeked).settings;
  }
  const std::vector<OptionInfo> defaults = tasks::TaskConfig(known).all();
  Flags flags("train", "trains a model from a recipe, or a task on its built-in corpus" + note_on_defaults(defaults));
  std::string named;
  flags
      .argument("RECIPE|TASK", named, "a .yml file, a recipe's name (attend list recipes), or one of " + task_names(),
                false)
      .options("run", run);
  add_groups(flags, defaults);
  flags.on_unknown([&](std::string_view name) { return option_of_another(value_of(defaults, "model.name"), name); });
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (named != subject) return flags.refuse("the recipe or task comes first: attend train " + named + " …");
  const tasks::Layered layered = tasks::laid_over(std::move(asked), flags.settings());
  asked = layered.settings;
  std::vector<std::string> changes;
  settle_length(asked);
  if (resumes) {
    const Resumed rest = resumed(known, asked, options_of_pipes(run.out));
    asked = rest.settings, changes = rest.changes;
  }
  if (!resumes && !company->alone() && !find_setting(asked, "train.parts")) {
    asked.push_back({"train.parts", std::to_string(company->size()), "mpirun"});
  }
  const tasks::TaskConfig config(asked);
  if (run.dump_config) {
    config.check();
    std::cout << print_recipe(config.all(), true);
    return 0;
  }
  if (run.out.empty()) return flags.refuse("--out is needed: the folder of the model");
  // A run that was killed just as it began, before its options were in their place, begins anew.
  const bool there = run.resume ? tasks::has_model(run.out) : fs::exists(fs::path(run.out) / tasks::kConfig);
  if (run.resume && !there) return flags.refuse("--resume: there is no run to resume in " + run.out);
  if (run.changed_data && !run.resume) return flags.refuse("--changed-data is about a run that is resumed: --resume");
  if (!run.resume && subject.empty()) return flags.refuse("name a recipe or a task, such as translate");
  if (there && !run.resume && !run.force) {
    return flags.refuse(run.out + " has a model already: --resume continues it, --force starts afresh");
  }
  run.threads.apply();
  for (const std::string& dropped : layered.notes) note("note: " + dropped);
  for (const std::string& change : changes) note("resuming with " + change + " …");
  followers.busy();
  return train_in(asked, run.out,
                  {run.resume, run.changed_data, {company.get(), run.timeout, run.send_late, run.threads.threads}});
}

}  // namespace attend::cli
