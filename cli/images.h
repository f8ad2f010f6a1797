// The commands for models that look at images.
#pragma once

#include <string>

namespace attend::cli {

/// Whether the folder holds such a model; false where it holds none at all.
bool looks_at_images(const std::string& folder);
/// The folder that these arguments name first: "attend run DIR …".
std::string named_folder(int argc, char** argv);

int run_images(int argc, char** argv);
int eval_images(int argc, char** argv);
int explain_images(int argc, char** argv);

}  // namespace attend::cli
