// What a run has learned from: a fingerprint of each file that it read, of its contents and not of its time. A resumed run that
// finds others would not be the same run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/tasks/config.h"

namespace attend::tasks {

/// The file in a run's folder.
inline constexpr const char* kDataFile = "data.json";

struct DataFile {
  std::string option, path;
  std::string unit = {};  ///< "lines" of a text, "files" of a folder, else "bytes"
  int64_t count = 0;      ///< of these
  std::string checksum = {};
  bool pipe = false;  ///< it came through a pipe: the path leads to it no more
};

/// All files that the configuration trains and validates with: "tsv pairs.tsv".
std::vector<std::string> data_paths(const TaskConfig& config);
/// The pipes among all texts that the configuration names. Throws UsageError where one is named twice, or where a pipe stands for
/// something else than a text. A resumed run reads no word vectors.
std::vector<std::string> pipes(const TaskConfig& config, bool resumed = false);
/// All files that the configuration trains and validates with, read once. A packed text counts as what is in it. Of a folder,
/// names and contents of the images (or texts) count. A built-in corpus has none. Pipes have to be spooled (data::Spool).
std::vector<DataFile> data_files(const TaskConfig& config);

std::string print_data_files(const std::vector<DataFile>& files);
/// As they were when the run in that folder began; nothing where that is not known, as version 0.1 did not keep it.
std::optional<std::vector<DataFile>> saved_data_files(const std::filesystem::path& folder);
/// "pairs.tsv: 300 lines before, 250 now; valid.tsv: 20 lines as before, but others"; "" if nothing differs.
std::string data_difference(const std::vector<DataFile>& before, const std::vector<DataFile>& now);

/// A run was to be resumed with other data than it began with.
class ChangedData : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace attend::tasks
