#include "cli/folders.h"

#include "attend/base/error.h"
#include "attend/tasks/model_folder.h"

namespace attend::cli {

std::string folder_objection(const std::string& folder) {
  try {
    tasks::check_folder(folder);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace attend::cli
