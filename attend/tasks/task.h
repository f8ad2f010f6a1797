// The tasks: what can be trained by name, on a corpus of its own or on files.
#pragma once

#include <span>
#include <string_view>

#include "attend/tasks/run.h"

namespace attend::tasks {

struct TaskSetting {
  std::string_view name, value;
};

struct TaskRow {
  std::string_view name, summary;
  const Family* family;
  std::string_view corpus;                  ///< built-in, used where no files are named
  std::span<const TaskSetting> on_builtin;  ///< what training on it wants different from the defaults
  std::string_view score;                   ///< what its models are compared by: a row of comparison_scores()
};
/// The menu: help, option checks and tests iterate over it.
std::span<const TaskRow> tasks();

/// The task that these settings ask for; where they name a corpus that is a task's own, that one.
const TaskRow& task_of(const SettingList& asked);
/// What the task wants where it is trained on its own corpus, before what was asked for; as asked where files are named.
SettingList with_task_defaults(const SettingList& asked);

}  // namespace attend::tasks
