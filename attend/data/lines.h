// Text files, line by line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attend::data {

/// The lines of a file, without their ends; throws Error with its name where it cannot be read.
std::vector<std::string> read_lines(const std::filesystem::path& path);

}  // namespace attend::data
