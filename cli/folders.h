// Folders of models, as commands take them.
#pragma once

#include <string>

namespace attend::cli {

/// Why this is no folder of a model; "" if it is one. A folder that is none was asked for wrongly; one whose files are broken is
/// another matter.
std::string folder_objection(const std::string& folder);

}  // namespace attend::cli
