// What a run writes about itself as it progresses: curves for TensorBoard, and a log of JSON lines. Each entry is
// written immediately and in one piece, so that a kill leaves all earlier entries intact.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attend/base/replacement.h"

namespace attend::train {

/// Castagnoli's checksum (CRC-32C, RFC 3720), used in TensorBoard's records.
uint32_t crc32c(std::string_view bytes);
/// A record of an event file: length, masked checksum of the length, data, masked checksum of the data.
std::string framed_record(std::string_view data);

/// A file for TensorBoard in `folder`, which is made if it is missing: events.out.tfevents.….
class EventFile {
 public:
  /// `resumed_at`: TensorBoard discards what earlier files of the folder have for steps after this one.
  explicit EventFile(const std::filesystem::path& folder, std::optional<int64_t> resumed_at = std::nullopt);
  void scalar(std::string_view tag, int64_t step, double value);
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

/// A value of a log entry. A number that is not finite is written as null, as JSON has no way to write it.
using LogValue = std::variant<double, int64_t, bool, std::string>;
using LogEntry = std::vector<std::pair<std::string, LogValue>>;

/// One JSON object per line, each with its step: {"step":100,"loss":2.13}.
class JsonLog {
 public:
  /// Starts a new log; if the run resumes at a step, keeps what was written up to that step, and drops an unfinished
  /// line.
  explicit JsonLog(const std::filesystem::path& path, std::optional<int64_t> resumed_at = std::nullopt);
  void add(int64_t step, const LogEntry& entry);

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace attend::train
