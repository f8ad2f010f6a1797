#include "attend/base/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>

#include "attend/base/error.h"
#include "attend/base/replacement.h"

namespace attend {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::string path = (fs::temp_directory_path() / (name + "-XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) fail(path, ": cannot make this folder: ", system_reason(errno));
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace attend
