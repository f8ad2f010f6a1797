#include "attend/tasks/model_folder.h"

#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/recipe.h"

namespace attend::tasks {

namespace fs = std::filesystem;

void check_folder(const fs::path& folder) {
  require(fs::exists(folder), folder.string(), ": not a model folder, as there is no such folder");
  require(fs::is_directory(folder), folder.string(), ": not a model folder, but a file");
  require(fs::exists(folder / kConfig), folder.string(), ": not a model folder, as it has no ", kConfig,
          "; `attend train … --out ", folder.string(), "` makes one");
}

SettingList read_config(const fs::path& folder) {
  check_folder(folder);
  return read_recipe(file_within(folder, kConfig));
}

std::string folder_name(const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(folder);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

}  // namespace attend::tasks
