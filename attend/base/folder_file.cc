#include "attend/base/folder_file.h"

#include <algorithm>
#include <system_error>

#include "attend/base/error.h"

namespace attend {

namespace fs = std::filesystem;

fs::path file_within(const fs::path& folder, const fs::path& name, uintmax_t most) {
  const fs::path path = folder / name;
  std::error_code missing;
  const fs::path file = fs::canonical(path, missing);
  if (missing) return path;
  const fs::path home = fs::canonical(folder.empty() ? "." : folder);
  require(std::mismatch(home.begin(), home.end(), file.begin(), file.end()).first == home.end(), path.native(),
          ": expected a file of the folder itself, got a symbolic link that leads out of it; a copy may take its place "
          "(cp -L)");
  require(fs::is_regular_file(file), path.native(), ": expected a regular file, got a folder, a pipe or a device");
  const uintmax_t bytes = fs::file_size(file);
  require(bytes <= most, path.native(), ": expected at most ", most, " bytes, got ", bytes);
  return path;
}

}  // namespace attend
