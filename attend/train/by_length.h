// Scores by the length of what was answered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/train/scores.h"

namespace attend::train {

/// Words of a text, which lie between blanks, or its letters.
int64_t length_of(std::string_view text, bool letters);

/// Examples with a source of `first` to `last` words, or of `first` and more.
struct LengthGroup {
  int64_t first = 1;
  std::optional<int64_t> last;
  int64_t count = 0;

  bool has(int64_t length) const { return length >= first && (!last || length <= *last); }
  std::string text() const;  ///< "11–15", "21+"
};
/// Groups with round bounds, from the shortest to the longest: as few bounds as tell at least four groups apart, each with at
/// least `least` sentences.
std::vector<LengthGroup> length_groups(std::span<const int64_t> lengths, int64_t least);
/// The score of the answers of each group; not a number where a group has none.
std::vector<double> score_by_length(const ScoreRow& score, const Judged& judged, std::span<const int64_t> lengths,
                                    std::span<const LengthGroup> groups);

}  // namespace attend::train
