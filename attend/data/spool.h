// Pipes as files that can be read again. A training reads its files several times (to hold some out, to learn a vocabulary, to
// encode them) and takes their fingerprint; what comes through a pipe can be read only once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attend/base/replacement.h"

namespace attend::data {

/// The name that stands for standard input. A file of that name is "./-".
inline constexpr const char* kStandardInput = "-";

/// How messages call it: "standard input", or the path.
std::string shown_name(const std::filesystem::path& path);
/// Whether it can be read only once: standard input, a named pipe, what a shell puts in place of <(command), a device.
bool is_pipe(const std::filesystem::path& path);

/// Copies of pipes, each in a file without a name. While it lives, file_bytes() reads the copy in place of the pipe: whoever
/// opens one by its name, and as often as they like. Nothing is left of the copies after it, even if the program is killed.
class Spool {
 public:
  /// Reads all `pipes` to their ends, at once, into files on the disk of `folder`.
  Spool(const std::filesystem::path& folder, const std::vector<std::string>& pipes);
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

 private:
  Spool() = default;

  std::vector<std::string> names_;
};

/// The copy of a pipe; null if there is none.
std::shared_ptr<const Descriptor> spooled(const std::filesystem::path& path);

}  // namespace attend::data
