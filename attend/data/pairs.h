// Pairs of sentences in the usual formats: two files with matching lines, or one with columns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attend/data/lines.h"

namespace attend::data {

/// What a corpus is read from, in this order: line i of source[k] pairs with line i of target[k]; a line of a tsv file
/// is "source<tab>target", optionally followed by a column of links ("0-0 2-1"). Each may be gzip.
struct PairFiles {
  std::vector<std::filesystem::path> source, target, tsv;
};

struct Pair {
  std::string source, target;
  std::string links;  // the third column of a tsv file; parse_links reads it
};

/// Streams the pairs of a corpus. Rejected: files whose line counts differ (the message gives both), a tsv line without
/// a tab, a corpus without any pair.
class PairReader {
 public:
  explicit PairReader(PairFiles files);

  bool next(Pair& pair);
  /// "file:line" of the pair last returned by next(), in the file of sources or the tsv.
  std::string where() const;
  /// Pairs returned so far.
  int64_t count() const { return count_; }

 private:
  bool open_next();
  bool next_of_two(Pair& pair);
  bool next_of_tsv(Pair& pair);
  std::string names() const;

  PairFiles files_;
  size_t opened_ = 0;  // files with their partners, then tsv files
  std::optional<LineReader> source_, target_;
  int64_t count_ = 0;
};

}  // namespace attend::data
