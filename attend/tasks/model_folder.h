// A model's folder, whatever the model reads.
#pragma once

#include <filesystem>
#include <string>

#include "attend/tasks/config.h"

namespace attend::tasks {

/// The options in a model's folder; a folder without this file holds no model.
inline constexpr const char* kConfig = "config.yml";

/// Throws UsageError where this is no folder of a model, with what to do.
void check_folder(const std::filesystem::path& folder);
/// What the folder's options are; throws Error where they are damaged.
TaskConfig read_config(const std::filesystem::path& folder);
/// Its last part: "." and "demo/" have a name, too.
std::string folder_name(const std::filesystem::path& folder);

}  // namespace attend::tasks
