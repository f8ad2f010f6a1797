// Folders of models as they lie on disk: what a request or the server's owner may name, and whether one has changed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace attend::serve {

/// Differs once a file that a model is made of was replaced: of each its inode, size and time.
using Stamp = std::vector<std::tuple<uint64_t, int64_t, int64_t, int64_t>>;
Stamp stamp_of(const std::filesystem::path& folder);

/// The folders of `home` that hold models, by name. Throws UsageError where it is no folder.
std::vector<std::filesystem::path> models_in(const std::filesystem::path& home);

/// {"folder": "name"} → "name"; refuses (400) all else.
std::string parse_folder(std::string_view body);
/// That folder of `home`; refuses (400) what leads out of it, links included, and (404) what holds no model.
std::filesystem::path folder_within(const std::filesystem::path& home, const std::string& folder);
/// Refuses (400) what could not be a model's name in a path.
void check_model_name(const std::string& name);

}  // namespace attend::serve
