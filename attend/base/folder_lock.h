// A folder that one program at a time writes into.
#pragma once

#include <filesystem>

#include "attend/base/replacement.h"

namespace attend {

/// Keeps the file `folder`/lock locked for its lifetime. The system releases the lock when the process ends, however it
/// ends. On a file system without locks nothing is locked.
class FolderLock {
 public:
  /// Throws Error if the folder is in use or cannot be written to.
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace attend
