// A folder for the files of one process, which is gone at its end.
#pragma once

#include <filesystem>
#include <string>

namespace attend {

class TemporaryFolder {
 public:
  /// In the folder that TMPDIR names in the environment, or /tmp. Throws Error if it cannot be made.
  explicit TemporaryFolder(const std::string& name);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace attend
