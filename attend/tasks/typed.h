// What a person types for a task of several inputs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attend/tasks/example.h"
#include "attend/tasks/task.h"

namespace attend::tasks {

/// The inputs of a task by their names: "document and question".
std::string input_names(const TaskRow& row);

/// A line as an example. The first inputs of the task may be given already; the line has the others: a JSON object with their
/// names, or as many columns between tabs. Throws Error ("where: …") for anything else, and for a text without a word.
Example typed_example(const TaskRow& row, const std::vector<std::string>& given, const std::string& where,
                      std::string_view line);
/// Throws Error ("where: …") unless it is a text with a word in it.
void check_typed(const std::string& where, std::string_view input, std::string_view text);

}  // namespace attend::tasks
