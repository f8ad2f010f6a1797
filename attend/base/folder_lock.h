// A folder that one program at a time writes into.
#pragma once

#include <filesystem>

#include "attend/base/replacement.h"

namespace attend {

/// Holds the file `folder`/lock locked while it lives. The system ends the lock with the process, however that dies. Where a
/// file system knows no locks, there is none.
class FolderLock {
 public:
  /// Throws Error where the folder is in use, or where nothing can be written into it.
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace attend
