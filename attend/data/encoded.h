// Pairs of sentences as ids, on disk: a corpus may be larger than memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/base/replacement.h"
#include "attend/data/batch.h"

namespace attend::data {

/// Which pairs are left out, as by Moses' clean-corpus. A pair with an empty side is always left out.
struct PairFilter {
  int64_t longest = 100;
  double ratio = 9;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("longest", longest, "pairs with a side of more tokens are left out; 0: none are", bounds::count_or_none());
    visit("ratio", ratio,
          "pairs with a side that many times as long as the other are left out if it is longer still; 0: none",
          bounds::at_least(0));
  }
};

struct FilterReport {
  int64_t read = 0, kept = 0, empty = 0, too_long = 0, ratio = 0;
  PairFilter filter;

  /// "29,000 pairs read; 28,950 kept; 10 with an empty side; 40 longer than 100 tokens".
  std::string text() const;
};

/// Pairs that are mapped into memory on demand. Copies share them.
class EncodedPairs {
 public:
  EncodedPairs() = default;

  int64_t size() const { return bounds_ ? (static_cast<int64_t>(bounds_->size()) - 1) / stored() : 0; }
  /// The parts of each source, by name; the first is what answers attend to, and what lengths are about.
  const std::vector<std::string>& parts() const { return parts_; }
  std::span<const int32_t> source(int64_t i, size_t part = 0) const { return ids(i, part); }
  std::span<const int32_t> target(int64_t i) const { return ids(i, parts_.size()); }
  int64_t source_length(int64_t i) const { return length(stored() * i); }
  int64_t target_length(int64_t i) const { return length(stored() * i + stored() - 1); }
  /// A part that has letters, word by word.
  std::vector<std::vector<int32_t>> letters(int64_t i, size_t part) const;

 private:
  friend class EncodedPairsWriter;
  int64_t stored() const { return static_cast<int64_t>(parts_.size()) + 1; }
  int64_t length(int64_t k) const {
    return static_cast<int64_t>((*bounds_)[static_cast<size_t>(k) + 1] - (*bounds_)[static_cast<size_t>(k)]);
  }
  std::span<const int32_t> ids(int64_t i, size_t part) const;

  std::vector<std::string> parts_;
  std::shared_ptr<const std::vector<uint64_t>>
      bounds_;  // of the parts of source 0, target 0, the parts of source 1, … in ids_; 16 bytes per pair of two texts
  std::shared_ptr<const int32_t> ids_;  // the mapping; letters: each word's, with kPad after it
};

/// Writes pairs to an unnamed file in `folder`, which disappears with the last EncodedPairs that uses it, even if the
/// program is killed.
class EncodedPairsWriter {
 public:
  explicit EncodedPairsWriter(std::filesystem::path folder, PairFilter filter = {});
  EncodedPairsWriter(const EncodedPairsWriter&) = delete;
  EncodedPairsWriter& operator=(const EncodedPairsWriter&) = delete;

  /// A source of one example, all parts of which are ids; each pair has the parts that the first one has. False if the
  /// filter left the pair out, which looks at the first part.
  bool add(const Source& source, std::span<const int32_t> target);
  /// A text alone.
  bool add(std::span<const int32_t> text, std::span<const int32_t> target);
  const FilterReport& report() const { return report_; }
  /// The pairs; nothing can be added afterwards.
  EncodedPairs finish();

 private:
  bool admit(size_t source, size_t target);
  void require_parts(const Source& source);
  void append(std::span<const int32_t> ids);
  void flush();

  std::filesystem::path folder_;
  std::vector<std::string> parts_;
  FilterReport report_;
  Descriptor file_;
  std::vector<int32_t> buffer_;
  uint64_t written_ = 0;
  std::vector<uint64_t> bounds_{0};
};

}  // namespace attend::data
