// `attend train`: from a recipe, or a task's name, to a trained model in a folder.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attend/base/memory.h"
#include "attend/base/names.h"
#include "attend/base/recipe.h"
#include "attend/base/replacement.h"
#include "attend/kernels/parallel.h"
#include "attend/tasks/task.h"
#include "attend/tasks/text.h"
#include "attend/train/log.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/progress.h"
#include "cli/resuming.h"
#include "cli/training.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResult = "result.json";

volatile std::sig_atomic_t interrupted = 0;

/// The first Ctrl-C (or SIGTERM) asks for an end; the second one ends at once, which leaves the last checkpoint.
void interrupt(int signal) {
  constexpr std::string_view kSaid = "\nstopping after this step or validation (again: at once) …\n";
  interrupted = signal;
  std::signal(signal, SIG_DFL);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kSaid.data(), kSaid.size());
}

struct RunOptions {
  std::string out;
  bool resume = false, force = false, dump_config = false;
  int64_t threads = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("out", out, "folder of the model");
    visit("resume", resume, "go on with the run in that folder");
    visit("force", force, "start anew, over a model that is in that folder");
    visit("dump_config", dump_config, "print all options with their values as a recipe, and do nothing");
    visit("threads", threads, "0: as many as the machine has");
  }
};

/// Shows a run: the bar, and a line for each validation.
class Bar : public train::Watcher {
 public:
  Bar(int64_t step, int64_t steps) : progress_("training", steps, stderr, step), step_(step) {}

  void stepped(const train::StepReport& r) override {
    char loss[32];
    const double rate = r.seconds > 0 ? static_cast<double>(r.tokens) / r.seconds : 0;
    std::snprintf(loss, sizeof(loss), "loss %.3f", r.loss);
    step_ = r.step, note_ = std::string(loss) + "  " + short_number(rate) + " tokens/s";
    progress_.show(r.step, note_);
  }

  void validated(const train::StepReport& r, const train::Validation& v, bool best) override {
    char text[160];
    std::snprintf(text, sizeof(text), "step %lld, epoch %lld: validation loss %.3f, perplexity %.2f",
                  static_cast<long long>(r.step), static_cast<long long>(r.epoch), v.loss, std::exp(v.loss));
    std::string line = text;
    for (const auto& [name, score] : v.scores) {
      std::snprintf(text, sizeof(text), ", %s %.1f", name.c_str(), score);
      line += text;
    }
    progress_.say(line + (best ? "  (best so far)" : ""));
    if (!v.source.empty()) progress_.say("  " + v.source + "\n  → " + v.output + "\n  = " + v.reference);
  }

  bool stop() override { return interrupted != 0; }
  void finish() { progress_.finish(step_, note_); }

 private:
  Progress progress_;
  int64_t step_;
  std::string note_;
};

bool has_run(const std::string& out) { return fs::exists(fs::path(out) / tasks::TextModel::kConfig); }

bool is_recipe(const std::string& subject) {
  const std::string ending = fs::path(subject).extension();
  return ending == ".yml" || ending == ".yaml" || fs::exists(subject);
}

/// "translate, dates, reverse".
std::string task_names() {
  std::string names;
  for (const tasks::TaskRow& row : tasks::tasks()) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

SettingList settings_of_subject(const std::string& subject) {
  for (const tasks::TaskRow& row : tasks::tasks()) {  // first: its model may lie in a folder of that name
    if (row.name == subject) return {{"task", subject, "task"}};
  }
  if (is_recipe(subject)) return read_recipe(subject);
  fail("train: a recipe (a .yml file) or a task is wanted, got ", quoted(subject), "; tasks: ", task_names());
}

/// "model.hidden" → "model"; options without a dot are about data.
std::string group_of(const OptionInfo& option) {
  const size_t dot = option.name.find('.');
  return dot == std::string::npos ? "data" : option.name.substr(0, dot);
}

void add_groups(Flags& flags, const std::vector<OptionInfo>& all) {
  std::vector<std::string> order;
  for (const OptionInfo& option : all) {
    if (std::ranges::find(order, group_of(option)) == order.end()) order.push_back(group_of(option));
  }
  for (const std::string& title : order) {
    std::vector<OptionInfo> group;
    std::ranges::copy_if(all, std::back_inserter(group), [&](const OptionInfo& o) { return group_of(o) == title; });
    flags.options(title, std::move(group));
  }
}

void say_result(const train::TrainResult& result, const std::string& out) {
  if (result.outcome == train::Outcome::interrupted) {
    std::cerr << "interrupted at step " << result.step << "; saved. Go on with: attend train --resume --out " << out
              << '\n';
    return;
  }
  if (result.outcome == train::Outcome::stopped_early) {
    std::cerr << "stopped at step " << result.step << ": no improvement for some validations\n";
  }
  std::cerr << "saved " << out << " ("
            << (result.averaged ? "mean of the last weights" : "weights of step " + std::to_string(result.best_step))
            << "; peak memory " << (memory::usage().peak >> 20) << " MiB)\n";
}

/// result.json: how a run ended. It is there only once it has.
void write_result(const train::TrainResult& result, const tasks::TextTraining& run, const std::string& out) {
  if (result.outcome == train::Outcome::interrupted) return;
  const nlohmann::ordered_json json{
      {"outcome", result.outcome == train::Outcome::finished ? "finished" : "stopped early"},
      {"steps", result.step},
      {"weights_of_step", result.best_step},
      {"averaged", result.averaged},
      {"pairs", run.pairs()},
      {"tokens", result.tokens},
      {"seconds", result.seconds},
      {"peak_memory_mib", memory::usage().peak >> 20}};
  write_file(fs::path(out) / kResult, json.dump(2) + "\n");
}

}  // namespace

bool finished(const std::string& out) { return fs::exists(fs::path(out) / kResult); }

int train_in(const tasks::TextConfig& config, const std::string& out, bool resume) {
  tasks::TextTraining run(config, out, resume, [](const std::string& what) { std::cerr << what << " …\n"; });
  std::cerr << run.filtered().text() << "; vocabulary " << run.model().source().size() << " → "
            << run.model().target().size() << "; " << run.valid().size() << " validation pairs";
  if (run.valid_left_out() > 0) std::cerr << " (" << run.valid_left_out() << " too long or empty: in no loss)";
  std::cerr << '\n';
  if (run.trainer().step() >= run.trainer().steps() && finished(out)) {  // else it was stopped before the average
    std::cerr << out << " has taken all of its " << run.trainer().steps()
              << " steps; to go on, ask for more: --train.epochs or --train.steps\n";
    return 0;
  }
  if (run.trainer().out_of_patience() && finished(out)) {
    std::cerr << out << " stopped at step " << run.trainer().step() << ": " << config.options.train.patience
              << " validations brought no improvement; to go on, ask for more patience: --train.patience (0: any)\n";
    return 0;
  }
  Bar bar(run.trainer().step(), run.trainer().steps());
  train::Log log(out, resume ? std::optional(run.trainer().step()) : std::nullopt);
  fs::remove(fs::path(out) / kResult);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, interrupt);
  train::Watcher* const watchers[] = {&bar, &log};
  const train::TrainResult result = run.trainer().run(watchers);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);  // the demo goes on, and nobody asks there
  bar.finish();
  write_result(result, run, out);
  say_result(result, out);
  return result.outcome == train::Outcome::interrupted ? 128 + interrupted : 0;
}

int train(int argc, char** argv) {
  const std::string subject = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
  RunOptions run;
  const auto out = peek_flag(argc, argv, "out");
  const bool goes_on = peek_switch(argc, argv, "resume") && out && has_run(*out);
  SettingList asked, known;
  if (!subject.empty()) asked = settings_of_subject(subject);
  if (goes_on) {
    known = read_recipe(fs::path(*out) / tasks::TextModel::kConfig);
  } else {
    known = asked;
    for (const char* name :
         {"task", "source", "target", "tsv", "model.name"}) {  // what other options there are hangs on these
      if (const auto value = peek_flag(argc, argv, name)) known.push_back({name, *value, "--" + std::string(name)});
    }
  }
  Flags flags("train", "trains a model from a recipe, or a task on its built-in corpus");
  std::string named;
  flags.argument("RECIPE|TASK", named, "a .yml file, or one of " + task_names(), false).options("run", run);
  add_groups(flags, tasks::TextConfig(known).all());
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (named != subject) return flags.refuse("the recipe or task is wanted first: attend train " + named + " …");
  asked.insert(asked.end(), flags.settings().begin(), flags.settings().end());
  std::vector<std::string> changes;
  if (goes_on) {
    try {
      const Resumed rest = resumed(known, asked);
      asked = rest.settings, changes = rest.changes;
    } catch (const Error& error) {
      return flags.refuse(error.what());
    }
  }
  const tasks::TextConfig config(asked);
  if (run.dump_config) {
    std::cout << print_recipe(config.all(), true);
    return 0;
  }
  if (run.out.empty()) return flags.refuse("--out is wanted: the folder of the model");
  const bool there = has_run(run.out);
  if (run.resume && !there) return flags.refuse("--resume: there is no run to go on with in " + run.out);
  if (!run.resume && subject.empty()) return flags.refuse("a recipe or a task is wanted, such as translate");
  if (there && !run.resume && !run.force) {
    return flags.refuse(run.out + " has a model already: --resume goes on with it, --force starts anew");
  }
  if (run.threads > 0) kernels::set_threads(static_cast<int>(run.threads));
  for (const std::string& change : changes) std::cerr << "going on with " << change << " …\n";
  return train_in(config, run.out, run.resume);
}

}  // namespace attend::cli
