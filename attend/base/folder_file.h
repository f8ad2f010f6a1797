// Files of a folder that others may have made, such as that of a model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

namespace attend {

/// `folder`/`name`, to be read. Throws Error if that leads out of the folder by a symbolic link, is no regular file or
/// has more than `most` bytes; nothing of it has been read by then. One that is missing is for the reader to report.
std::filesystem::path file_within(const std::filesystem::path& folder, const std::filesystem::path& name,
                                  uintmax_t most = std::numeric_limits<uintmax_t>::max());

}  // namespace attend
