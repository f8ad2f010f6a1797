// Rewards of a glimpse network: the value of an episode of looking.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "attend/tensor/tensor.h"

namespace attend::models {

/// N finished episodes.
struct GlimpseOutcome {
  Tensor log_probabilities;           ///< [N,labels], at the end
  std::span<const int32_t> labels;    ///< [N], the correct ones
  std::span<const int32_t> glimpses;  ///< [N], how many were taken
  double cost = 0;                    ///< of a glimpse, from the options

  /// The likeliest label.
  int64_t said(int64_t n) const;
  /// 1 if the likeliest label is correct, otherwise 0.
  real correct(int64_t n) const;
};

struct RewardRow {
  std::string_view name, formula, paper;
  /// One number per episode: [N].
  Tensor (*reward)(const GlimpseOutcome& outcome);
  bool stops = false;  ///< the network learns when to stop looking
};

std::span<const RewardRow> rewards();
/// Adds a row from outside the library, as add_score does.
void add_reward(const RewardRow& row);
const RewardRow& reward_named(std::string_view name);

}  // namespace attend::models
