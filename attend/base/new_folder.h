// A folder that disappears again unless what was to be put into it succeeds.
#pragma once

#include <filesystem>

namespace attend {

/// Makes the folder, with those above it, and removes what it made at the end of its lifetime unless keep() was called.
/// A folder that was there before is left as it is.
class NewFolder {
 public:
  /// Throws Error if it cannot be made or written to.
  explicit NewFolder(const std::filesystem::path& folder);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();
  void keep() { made_.clear(); }

 private:
  void remove() const;

  std::filesystem::path folder_;
  std::filesystem::path made_;  // the first of its path that did not exist; empty: all of it did
};

}  // namespace attend
