// A model's folder, whatever the model reads.
#pragma once

#include <filesystem>
#include <string>

#include "attend/base/options.h"

namespace attend::tasks {

/// The options in a model's folder; a folder without them is none.
inline constexpr const char* kConfig = "config.yml";

/// What the folder's options are; throws Error where it is none, with what to do.
SettingList read_config(const std::filesystem::path& folder);
/// Its last part: "." and "demo/" have a name, too.
std::string folder_name(const std::filesystem::path& folder);

}  // namespace attend::tasks
