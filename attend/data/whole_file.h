// Small files that are read or written as a whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace attend::data {

/// All bytes of a file; throws Error where it has more than `most`.
std::string read_file(const std::filesystem::path& path, size_t most);

/// Puts a file of these bytes in the place of `path`, at once: a reader sees the old one or the new one, also after a
/// power cut.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace attend::data
