#include "attend/base/new_folder.h"

#include "attend/base/replacement.h"

namespace attend {

namespace fs = std::filesystem;

NewFolder::NewFolder(const fs::path& folder) : folder_(fs::absolute(folder).lexically_normal()) {
  if (!folder_.has_filename()) folder_ = folder_.parent_path();  // "model/"
  std::error_code problem;
  for (fs::path path = folder_; !fs::exists(path, problem) && path.has_relative_path(); path = path.parent_path()) {
    made_ = path;
  }
  try {
    require_writable(folder);
  } catch (...) {
    remove();
    throw;
  }
}

NewFolder::~NewFolder() { remove(); }

/// Those above it only while they are empty: another program may have put something there.
void NewFolder::remove() const {
  if (made_.empty()) return;
  std::error_code problem;
  fs::remove_all(folder_, problem);
  for (fs::path path = folder_; path != made_ && !problem;) {
    path = path.parent_path();
    fs::remove(path, problem);
  }
}

}  // namespace attend
