// Scores of classifiers, by scikit-learn's definitions (Pedregosa et al. 2011).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/train/matches.h"

namespace attend::train {

struct LabelScores {
  int64_t count = 0;                            ///< texts
  double accuracy = 0;                          ///< the share whose output is its reference
  double macro_f1 = 0;                          ///< the mean of F1 over `labels`
  std::vector<std::string> labels;              ///< of either side, sorted
  std::vector<Matches> by_label;                ///< in their order
  std::vector<std::vector<int64_t>> confusion;  ///< [reference][output], in their order
};

/// Throws Error unless there are as many outputs as references, and at least one.
LabelScores label_scores(std::span<const std::string> outputs, std::span<const std::string> references);

}  // namespace attend::train
