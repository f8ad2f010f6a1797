// All files of a folder with their bytes, to be compared with what is there later.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace attend::test {

using Snapshot = std::map<std::string, std::string>;

/// By their paths within it. A lock that a killed process has left is none of them.
inline Snapshot snapshot(const std::filesystem::path& folder) {
  Snapshot all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (!entry.is_regular_file() || name == "lock") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    all[name] = {std::istreambuf_iterator<char>(in), {}};
  }
  return all;
}

/// Their names, for messages.
inline std::string names_in(const Snapshot& files) {
  std::string names;
  for (const auto& [name, bytes] : files) names += name + " ";
  return names;
}

/// Changes one byte of a file.
inline void flip(const std::filesystem::path& path, uint64_t at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(at));
  const int was = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(was ^ 1));
}

}  // namespace attend::test
