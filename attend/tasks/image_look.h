// Explanations of answers to images.
#pragma once

#include "attend/tasks/explanation.h"

namespace attend::tasks {

/// The methods for images that a network has, by their names.
std::vector<std::string> look_methods(const models::Model& network);
explain::ImageLook look(const TaskModel& model, const Example& example, const ExplainOptions& options);
/// The target that is explained, as ids; throws Error where the model cannot say it.
void check_look_target(const TaskModel& model, const ExplainOptions& options);

}  // namespace attend::tasks
