#include "cli/training.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "attend/base/packed.h"
#include "attend/base/replacement.h"
#include "attend/base/temporary_folder.h"
#include "attend/models/zoo.h"
#include "attend/tasks/training.h"
#include "attend/train/log.h"
#include "cli/duration.h"
#include "cli/model_card.h"
#include "cli/quiet.h"
#include "cli/recipes.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kFewExamples = 20;  // fewer teach nothing but themselves

volatile std::sig_atomic_t interrupted = 0;

/// The first signal asks for an end. Ctrl-C or SIGTERM again ends at once, which leaves the last checkpoint. The others
/// are not asked for twice: a terminal that is closed may send SIGHUP from both system and shell, and every line that
/// nobody reads any more sends SIGPIPE.
void interrupt(int signal) {
  constexpr std::string_view kSaid = "\nstopping after this step or validation (again: at once) …\n";
  if (interrupted == 0) interrupted = signal;
  std::signal(signal, signal == SIGHUP || signal == SIGPIPE ? SIG_IGN : SIG_DFL);
  if (signal == SIGPIPE || quiet()) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kSaid.data(), kSaid.size());
}

/// Handles the signals that would end a run by `interrupt`, for as long as it lasts.
class Interruptible {
 public:
  Interruptible() {
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, interrupt);
    if (hangup_ == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
    if (interrupted != SIGHUP) std::signal(SIGHUP, hangup_);
    std::signal(SIGPIPE, SIG_IGN);  // what is still to be said must not keep the result from being written
  }

 private:
  void (*hangup_)(int) = std::signal(SIGHUP, interrupt);  // what it was before
};

train::TrainResult run_until_interrupted(tasks::TaskTraining& run, const std::string& out,
                                         std::span<train::Watcher* const> watchers) {
  const Interruptible interruptible;
  try {
    return run.trainer().run(watchers);
  } catch (const train::LostRank& lost) {
    fail(lost.what(), "; what was learned until step ", run.trainer().saved_step(),
         " is saved. Resume with: attend train --resume --out ", out, " (mpirun: any number of ranks)");
  } catch (const Error& error) {
    if (!run.is_waiting()) throw;
    fail(error.what(), "; ", out, " keeps the model that it had");
  }
}

/// A run alone, with its own bar.
class OwnBar : public RunView {
 public:
  void say(const std::string& text) override { progress_ ? progress_->say(text) : note(text); }
  void begin(int64_t step, int64_t steps) override { progress_.emplace("training", steps, stderr, step); }
  void show(int64_t step, const std::string& note) override { progress_->show(step, note); }
  void end(int64_t step, const std::string& note) override {
    progress_->finish(step, note);
    progress_.reset();
  }
  std::string how_to_resume(const std::string& out) const override { return "attend train --resume --out " + out; }

 private:
  std::optional<Progress> progress_;
};

/// Puts a run into its view: the bar, and a line for each validation.
class Shown : public train::Watcher {
 public:
  Shown(RunView& view, std::string_view counted, int64_t step) : view_(view), counted_(counted), step_(step) {}

  void stepped(const train::StepReport& r) override {
    char loss[32];
    const double rate = r.seconds > 0 ? static_cast<double>(r.tokens) / r.seconds : 0;
    std::snprintf(loss, sizeof(loss), "loss %.3f", r.loss);
    step_ = r.step, note_ = std::string(loss) + "  " + short_number(rate) + " " + std::string(counted_) + "/s";
    view_.show(r.step, note_);
  }

  void validated(const train::StepReport& r, const train::Validation& v, bool best) override {
    char text[160];
    std::snprintf(text, sizeof(text), "step %lld, epoch %lld: validation loss %.3f", static_cast<long long>(r.step),
                  static_cast<long long>(r.epoch), v.loss);
    std::string line = text;
    std::snprintf(text, sizeof(text), ", perplexity %.2f", std::exp(v.loss));
    if (counted_ == "tokens") line += text;
    for (const auto& [name, score] : v.scores) {
      std::snprintf(text, sizeof(text), ", %s %.1f", name.c_str(), score);
      line += text;
    }
    view_.say(line + (best ? "  (best so far)" : ""));
    if (!v.source.empty()) view_.say("  " + v.source + "\n  → " + v.output + "\n  = " + v.reference);
  }

  bool stop() override { return interrupted != 0; }
  void finish() { view_.end(step_, note_); }

 private:
  RunView& view_;
  std::string_view counted_;
  int64_t step_;
  std::string note_;
};

/// Asks for nothing but an end: what a rank does that does not lead.
class Silent : public train::Watcher {
 public:
  bool stop() override { return interrupted != 0; }
};

/// What it cost to be several, per update.
nlohmann::ordered_json cost_of(const train::ExchangeCost& cost, int ranks) {
  const double updates = static_cast<double>(std::max<int64_t>(1, cost.updates));
  return {{"number", ranks},
          {"bytes_sent", cost.bytes / updates},
          {"seconds_waiting_for_gradients", cost.gradients / updates},
          {"seconds_sharing_weights", cost.weights / updates}};
}

/// Of the whole process.
int64_t peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

/// `kept`: the run was to replace a model, and has not yet.
void say_result(const train::TrainResult& result, const std::string& out, bool kept, RunView& view) {
  const std::string step = std::to_string(result.step);
  if (kept) {
    return view.say("interrupted at step " + step + ", before the first checkpoint; " + out +
                    " keeps the model that it had");
  }
  if (result.outcome == train::Outcome::interrupted) {
    return view.say("interrupted at step " + step + "; saved. Resume with: " + view.how_to_resume(out));
  }
  if (result.outcome == train::Outcome::stopped_early) {
    view.say("stopped at step " + step + ": no improvement for some validations");
  }
  view.say("saved " + out + " (" +
           (result.averaged ? "mean of the last weights" : "weights of step " + std::to_string(result.best_step)) +
           "; peak memory " + std::to_string(peak_memory_mib()) + " MiB)");
}

void write_result(const train::TrainResult& result, tasks::TaskTraining& run, int ranks, const std::string& out) {
  if (result.outcome == train::Outcome::interrupted) return;
  nlohmann::ordered_json json{{"outcome", result.outcome == train::Outcome::finished ? "finished" : "stopped early"},
                              {"steps", result.step},
                              {"weights_of_step", result.best_step},
                              {"averaged", result.averaged},
                              {"examples", run.examples()},
                              {"tokens", result.tokens},
                              {"seconds", result.seconds},
                              {"peak_memory_mib", peak_memory_mib()},
                              {"version", ATTEND_VERSION}};
  if (ranks > 1) json["ranks"] = cost_of(run.trainer().cost(), ranks);
  write_file(fs::path(out) / kResult, json.dump(2) + "\n");
  complete_card(out);
}

/// Those of the others may have been asked to stop.
int code_of(const train::TrainResult& result) {
  return result.outcome == train::Outcome::interrupted ? 128 + (interrupted ? interrupted : SIGTERM) : 0;
}

/// The files with which a rank elsewhere resumes what the leader has made ready.
std::vector<fs::path> files_to_resume(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.is_regular_file() && name != "lock" && name != "log.jsonl") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// To all that wait in `follow`.
void give_orders(const SettingList& settings, const Together& together, const fs::path& folder) {
  const std::vector<fs::path> files = files_to_resume(folder);
  Packing order;
  order.add(together.patience)
      .add(together.send_late)
      .add(together.threads)
      .add(static_cast<uint64_t>(settings.size()));
  for (const Setting& one : settings) order.add(one.name).add(one.value).add(one.where).add(one.list);
  order.add(static_cast<uint64_t>(files.size()));
  for (const fs::path& file : files) order.add(file.filename().string());
  together.company->of_leader(std::move(order).bytes());
  for (const fs::path& file : files) together.company->of_leader(read_file(file, std::numeric_limits<size_t>::max()));
}

/// The run of the rank that leads, resumed in another folder.
std::unique_ptr<tasks::TaskTraining> made_ready(const SettingList& settings, const fs::path& folder,
                                                train::Company& company) {
  try {
    return std::make_unique<tasks::TaskTraining>(
        tasks::TaskConfig(settings), folder, true, [](const std::string&) {}, false, company);
  } catch (const tasks::ChangedData& changed) {
    fail_usage("expected the data of rank 0, got others: ", changed.what());
  }
}

/// Everybody is ready: from here on, nobody takes long to answer.
void begin_together(const Together& together, train::Trainer& trainer) {
  train::Company& company = *together.company;
  (void)company.gathered("ready");
  company.be_patient(together.patience);
  trainer.set_overlap(!together.send_late);
}

/// From where it is to its end.
int train_on(const std::string& counted, const std::string& out, const RunStart& start, RunView& view,
             tasks::TaskTraining& run) {
  const int64_t step = run.trainer().step();
  view.begin(step, run.trainer().steps());
  Shown shown(view, counted, step);
  train::Log log(run.folder(), start.resume ? std::optional(step) : std::nullopt);
  fs::remove(run.folder() / kResult);
  fs::remove(run.folder() / kModelCard);
  train::Watcher* const watchers[] = {&shown, &log};
  const train::TrainResult result = run_until_interrupted(run, out, watchers);
  shown.finish();
  write_result(result, run, start.together.company->size(), out);
  say_result(result, out, run.is_waiting(), view);
  return code_of(result);
}

/// "model.hidden" → "model"; options without a dot are about data.
std::string group_of(const OptionInfo& option) {
  const size_t dot = option.name.find('.');
  return dot == std::string::npos ? "data" : option.name.substr(0, dot);
}

}  // namespace

void complete_card(const std::string& out) {
  const fs::path card = fs::path(out) / kModelCard;
  if (!fs::exists(card)) write_file(card, model_card(tasks::facts_of(out)));
}

bool finished(const std::string& out) { return fs::exists(fs::path(out) / kResult); }

int train_in(const SettingList& settings, const std::string& out, RunStart start) {
  OwnBar view;
  return train_in(settings, out, start, view);
}

int train_in(const SettingList& settings, const std::string& out, RunStart start, RunView& view) {
  const double begun = steady_seconds();
  const tasks::TaskConfig config(settings);
  std::optional<Progress> preparing;
  const tasks::Prepared prepared([&](const std::string& what) { view.say(what + " …"); },
                                 [&](const std::string& what, int64_t done, int64_t total) {
                                   if (done == 0) preparing.emplace(what, total);
                                   done < total ? preparing->show(done, "") : preparing->finish(done, "");
                                 });
  train::Company& company = *start.together.company;
  const auto run =
      std::make_unique<tasks::TaskTraining>(config, out, start.resume, prepared, start.changed_data, company);
  if (!company.alone()) give_orders(settings, start.together, run->folder());
  view.say(run->summary());
  if (run->examples() < kFewExamples) {
    view.say("warning: only " + std::to_string(run->examples()) +
             " examples to learn from: the model will know these by heart and no others; it needs thousands");
  }
  train::Trainer& trainer = run->trainer();
  begin_together(start.together, trainer);
  announce_duration(trainer, steady_seconds() - begun, [&](const std::string& line) { view.say(line); });
  const int64_t step = trainer.step(), steps = trainer.steps();
  const bool taken_all = step >= steps && finished(out);  // else it was stopped before the average
  const bool over = taken_all || (trainer.out_of_patience() && finished(out));
  if (company.of_leader(over) == 0) return train_on(std::string(config.row().input().counted), out, start, view, *run);
  if (taken_all) {
    complete_card(out);
    view.say(out + " has taken all of its " + std::to_string(steps) +
             " steps; to continue, ask for more: --train.epochs or --train.steps");
    return 0;
  }
  complete_card(out);
  view.say(out + " stopped at step " + std::to_string(step) + ": " + std::to_string(trainer.options().patience) +
           " validations brought no improvement; to continue, ask for more patience: --train.patience (0: any)");
  return 0;
}

Followers::~Followers() {
  if (!busy_ && std::uncaught_exceptions() == 0) company_.of_leader(std::string());
}

int follow(train::Company& company) {
  set_quiet(true);
  const std::string order = company.of_leader(std::string());
  if (order.empty()) return 0;
  Unpacking in(order);
  Together together{.company = &company};
  in.take(together.patience), in.take(together.send_late), in.take(together.threads);
  SettingList settings(in.taken<uint64_t>());
  for (Setting& one : settings) in.take(one.name), in.take(one.value), in.take(one.where), in.take(one.list);
  std::erase_if(settings, [](const Setting& one) { return one.name == "train.start_from"; });  // what it gave has come
  const TemporaryFolder folder("attend-rank-" + std::to_string(company.rank()));
  for (const std::string& file : in.taken<std::vector<std::string>>()) {
    write_file(folder.path() / file, company.of_leader(std::string()));
  }
  ThreadOption{together.threads}.apply();
  const std::unique_ptr<tasks::TaskTraining> made = made_ready(settings, folder.path(), company);
  tasks::TaskTraining& run = *made;
  begin_together(together, run.trainer());
  announce_duration(run.trainer(), 0, [](const std::string&) {});
  if (company.of_leader(0) != 0) return 0;
  Silent silent;
  train::Watcher* const watchers[] = {&silent};
  const Interruptible interruptible;
  return code_of(run.trainer().run(watchers));
}

std::string task_names() { return joined(tasks::tasks(), ", ", &tasks::TaskRow::name); }

bool is_task(const std::string& subject) {
  return std::ranges::find(tasks::tasks(), subject, &tasks::TaskRow::name) != tasks::tasks().end();
}

SettingList settings_of_subject(const std::string& subject) {
  if (is_task(subject)) return {{"task", subject, "task"}};  // first: its model may lie in a folder of that name
  if (const auto recipe = find_recipe(subject)) return read_layers(*recipe);
  fail_usage("expected a recipe (a .yml file, or a name that `attend list recipes` has) or a task, got ",
             quoted(subject), "; tasks: ", task_names());
}

std::string option_of_another(const std::string& network, std::string_view name) {
  std::string having, own;
  for (const models::ModelRow& row : models::zoo()) {
    for (const OptionInfo& option : row.options({}, "model.")) {
      std::string flag = option.name;
      std::ranges::replace(flag, '_', '-');
      if (flag == name) having += (having.empty() ? "" : ", ") + std::string(row.name);
      if (row.name == network && !flag.ends_with("-vocabulary")) own += (own.empty() ? "--" : ", --") + flag;
    }
  }
  if (having.empty()) return "";
  return "the network " + network + " has no --" + std::string(name) + " (" + having +
         (having.find(',') == having.npos ? " has" : " have") + " it: --model.name); it has " + own;
}

std::string value_of(const std::vector<OptionInfo>& options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &OptionInfo::name);
  return found == options.end() ? "" : found->value;
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

}  // namespace attend::cli
