// A model's folder, whatever the model reads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attend/tasks/config.h"

namespace attend::tasks {

/// The options in a model's folder; a folder without this file holds no model.
inline constexpr const char* kConfig = "config.yml";

/// Where a run was killed while its files took their places, they are put there now; waits for a run that is doing so. Throws
/// Error where that cannot be.
void settle_folder(const std::filesystem::path& folder);
/// Whether there is a model in that folder, or the beginning of one.
bool has_model(const std::filesystem::path& folder);
/// Throws UsageError where this is no folder of a model, with what to do.
void check_folder(const std::filesystem::path& folder);
/// What the folder's options are; throws Error where they are damaged.
TaskConfig read_config(const std::filesystem::path& folder);
/// Its vocabularies, by their names.
std::vector<std::filesystem::path> vocabulary_files(const std::filesystem::path& folder);
/// All files that a run and what was measured of it may have left in the folder, by their paths within it.
std::vector<std::filesystem::path> run_files(const std::filesystem::path& folder);
/// Its last part: "." and "demo/" have a name, too.
std::string folder_name(const std::filesystem::path& folder);

}  // namespace attend::tasks
