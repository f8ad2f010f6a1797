// The manifest of a model's folder: size and checksum of the files that were written with its options and stay as they are.
// Weights and checkpoints, which training replaces again and again, carry their checksums themselves.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace attend::tasks {

inline constexpr const char* kManifest = "manifest.json";

/// Lists all files of the folder as they are.
void write_manifest(const std::filesystem::path& folder);
/// Throws Error, naming the file, where one that is listed is missing or has changed. A folder of version 0.1 has no manifest:
/// nothing is checked.
void check_listed(const std::filesystem::path& folder);
/// That one alone.
void check_listed(const std::filesystem::path& folder, std::string_view name);
/// That the files of a folder without a manifest are unchecked, for people; "" where there is one.
std::string unchecked_note(const std::filesystem::path& folder);
/// The text of the manifest, which changes with any of the files; "" where there is none.
std::string manifest_text(const std::filesystem::path& folder);

}  // namespace attend::tasks
