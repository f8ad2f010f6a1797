// How much of a summary is copied from its source, and how much is new.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace attend::train {

/// Of n-grams of words (between white space, in lower case), n = 1 … 4: how many there are, and how many of them do not
/// occur in the source (See et al. 2017, figure 6).
struct Novelty {
  static constexpr size_t kOrders = 4;
  std::array<int64_t, kOrders> count = {}, novel = {};

  /// 0 … 1; 0 if there are none.
  double novel_share(size_t n) const;
  double copied_share() const { return count[0] == 0 ? 0 : 1 - novel_share(1); }
};

/// Summed over all texts. Throws Error unless there is a source for each.
Novelty novelty(std::span<const std::string> texts, std::span<const std::string> sources);

}  // namespace attend::train
