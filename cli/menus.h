// What may be given for an option or an argument: names of a menu, files, folders. For the completion of shells.
#pragma once

#include <string>
#include <vector>

#include "cli/flags.h"

namespace attend::cli {

/// Names of files that the shell itself completes.
enum class Paths { none, files, folders };

struct Candidate {
  std::string text, help;
};
struct Choices {
  std::vector<Candidate> names;
  Paths paths = Paths::none;
};

/// For the value of an option. Which names there are may depend on the task that `usage` is for.
Choices choices_of(const Usage::Option& option, const Usage& usage);
/// For an argument by its name in help: "RECIPE|TASK|DIR".
Choices choices_of_argument(const std::string& name);

}  // namespace attend::cli
