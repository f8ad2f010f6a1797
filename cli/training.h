// A training run as `attend train`, `attend demo` and `attend compare` show it, and what they train from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/options.h"
#include "attend/dist/company.h"
#include "attend/tasks/config.h"
#include "attend/tasks/facts.h"
#include "cli/flags.h"
#include "cli/progress.h"

namespace attend::cli {

/// Where a run is shown: with a bar of its own, or as its share of a bar for several runs.
class RunView {
 public:
  virtual ~RunView() = default;
  /// Lines above the bar.
  virtual void say(const std::string& text) = 0;
  /// All is prepared; from here on it goes step by step.
  virtual void begin(int64_t step, int64_t steps) = 0;
  virtual void show(int64_t step, const std::string& note) = 0;
  virtual void end(int64_t step, const std::string& note) = 0;
  /// What to say after Ctrl-C: how to resume the run.
  virtual std::string how_to_resume(const std::string& out) const = 0;
};

/// The ranks that train together (mpirun), and how.
struct Together {
  train::Company* company = &train::alone();
  double patience = dist::kPatience;  ///< seconds
  bool send_late = false;             ///< gradients are sent after the backward pass, not during it
  int64_t threads = 0;
};

/// How a run begins: in place of what is in its folder, or resumed, with other data than it began with only if that is allowed.
struct RunStart {
  bool resume = false, changed_data = false;
  Together together = {};
};

/// Writes the card of a finished model, unless it is there: a run that was killed at its very end has none.
void complete_card(const std::string& out);

/// Trains in the folder `out`; the exit code: 0, or 130 after Ctrl-C (143 after SIGTERM), which saves. A model that is to be
/// replaced stays until the first checkpoint.
int train_in(const SettingList& settings, const std::string& out, RunStart start);
int train_in(const SettingList& settings, const std::string& out, RunStart start, RunView& view);
/// What ranks do that do not lead: they wait until the one that does has made a run ready, get its files, each into a folder of its
/// own that is gone at the end, and take part in it. The exit code.
int follow(train::Company& company);
/// Tells those that wait in `follow` that there is nothing to do, at the end of its lifetime, unless a run was begun. After an error
/// mpirun ends them.
class Followers {
 public:
  explicit Followers(train::Company& company) : company_(company) {}
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;
  ~Followers();
  void busy() { busy_ = true; }

 private:
  train::Company& company_;
  bool busy_ = false;
};
/// Whether the run in that folder came to its end.
bool finished(const std::string& out);
using tasks::kResult;

/// "translate, dates, reverse, …".
std::string task_names();
/// Whether that is a task's name.
bool is_task(const std::string& subject);
/// What a task or a recipe sets; throws Error where it is neither.
SettingList settings_of_subject(const std::string& subject);
/// Where `name` ("model.attention.score") is an option of other networks: that, and what this one has; else "".
std::string option_of_another(const std::string& network, std::string_view name);
/// The value of the option of that name; "" where there is none.
std::string value_of(const std::vector<OptionInfo>& options, std::string_view name);
/// A group of flags for each first part of the options' names: data, model, train, …
void add_groups(Flags& flags, const std::vector<OptionInfo>& all);

}  // namespace attend::cli
