// The two ways to batches: texts are encoded once and stored on disk; images and sounds are made ready for each batch, ahead of it.
#pragma once

#include <filesystem>
#include <memory>

#include "attend/tasks/training.h"

namespace attend::tasks {

/// `model` has to outlive it.
std::unique_ptr<BatchPlan> stored_batches(const TaskModel& model, ExampleStream& stream,
                                          const std::filesystem::path& folder);
std::unique_ptr<BatchPlan> made_batches(const TaskModel& model, Examples examples);

}  // namespace attend::tasks
