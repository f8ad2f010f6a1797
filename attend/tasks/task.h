// The tasks: what can be trained by name, on a corpus of its own or on files.
#pragma once

#include <span>
#include <string_view>

namespace attend::tasks {

struct TaskSetting {
  std::string_view name, value;
};

struct TaskRow {
  std::string_view name, summary;
  std::string_view corpus;                  ///< built-in, used where no files are named
  std::span<const TaskSetting> on_builtin;  ///< what training on it wants different from the defaults
  std::string_view score;                   ///< what its models are compared by: a row of comparison_scores()
};
/// The menu: help, option checks and tests iterate over it.
std::span<const TaskRow> tasks();

}  // namespace attend::tasks
