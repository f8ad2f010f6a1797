#include "attend/tasks/model_folder.h"

#include "attend/base/error.h"
#include "attend/base/recipe.h"

namespace attend::tasks {

namespace fs = std::filesystem;

void check_folder(const fs::path& folder) {
  std::error_code problem;
  require_usage(fs::exists(folder, problem), folder.string(), ": not a model folder, as there is no such folder");
  require_usage(fs::is_directory(folder, problem), folder.string(), ": not a model folder, but a file");
  require_usage(fs::exists(folder / kConfig, problem), folder.string(), ": not a model folder, as it has no ", kConfig,
                "; `attend train … --out ", folder.string(), "` makes one");
}

TaskConfig read_config(const fs::path& folder) {
  check_folder(folder);
  try {
    return TaskConfig(read_recipe(folder / kConfig));
  } catch (const UsageError& error) {  // nobody asked for it: the folder is damaged
    throw Error(error.what());
  }
}

std::string folder_name(const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(folder);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

}  // namespace attend::tasks
