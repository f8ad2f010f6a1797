#include "attend/models/glimpse_reward.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend::models {
namespace {

template <class Worth>
Tensor each(const GlimpseOutcome& outcome, Worth worth) {
  Tensor rewards({outcome.log_probabilities.dim(0)});
  for (int64_t n = 0; n < rewards.dim(0); ++n) rewards.data()[n] = worth(n);
  return rewards;
}

Tensor correct(const GlimpseOutcome& outcome) {
  return each(outcome, [&](int64_t n) { return outcome.correct(n); });
}

Tensor correct_minus_cost(const GlimpseOutcome& outcome) {
  return each(outcome, [&](int64_t n) {
    const double spent = outcome.cost * static_cast<double>(outcome.glimpses[static_cast<size_t>(n)]);
    return outcome.correct(n) - static_cast<real>(spent);
  });
}

Tensor correct_while_early(const GlimpseOutcome& outcome) {
  return each(outcome, [&](int64_t n) {
    const double kept = std::pow(1 - outcome.cost, outcome.glimpses[static_cast<size_t>(n)]);
    return outcome.correct(n) * static_cast<real>(kept);
  });
}

Tensor near(const GlimpseOutcome& outcome) {
  const int64_t V = outcome.log_probabilities.dim(1);
  return each(outcome, [&](int64_t n) {
    const int64_t off = std::abs(outcome.said(n) - outcome.labels[static_cast<size_t>(n)]);
    return real(1) - static_cast<real>(off) / static_cast<real>(std::max<int64_t>(1, V - 1));
  });
}

Tensor likelihood(const GlimpseOutcome& outcome) {
  const int64_t V = outcome.log_probabilities.dim(1);
  return each(outcome, [&](int64_t n) {
    return std::exp(outcome.log_probabilities.data()[n * V + outcome.labels[static_cast<size_t>(n)]]);
  });
}

std::vector<RewardRow>& table() {
  static std::vector<RewardRow> rows = with_room<RewardRow>({
      {"correct", "1 if the likeliest label is right, else 0", "Mnih et al. 2014, section 3", correct},
      {"likelihood", "p(label)", "", likelihood},
      {"correct_minus_cost", "correct − cost·glimpses, with learned stopping", "Li et al. 2017", correct_minus_cost,
       true},
      {"correct_while_early", "correct·(1 − cost)^glimpses, with learned stopping", "", correct_while_early, true},
      {"near", "1 − |answer − label| / (labels − 1), for labels that are numbers in their order", "", near},
  });
  return rows;
}

}  // namespace

int64_t GlimpseOutcome::said(int64_t n) const {
  const int64_t V = log_probabilities.dim(1);
  const real* row = log_probabilities.data() + n * V;
  return std::max_element(row, row + V) - row;
}

real GlimpseOutcome::correct(int64_t n) const { return said(n) == labels[static_cast<size_t>(n)] ? real{1} : real{0}; }

std::span<const RewardRow> rewards() { return table(); }

void add_reward(const RewardRow& row) {
  for (const RewardRow& known : table()) {
    require(known.name != row.name, "add_reward: expected a new name, got \"", row.name, "\", which is taken");
  }
  require(row.reward != nullptr, "add_reward: \"", row.name, "\" needs a function that computes it, got none");
  require(table().size() < table().capacity(), "add_reward: there is room for ", table().capacity(), " rewards");
  table().push_back(row);
}

const RewardRow& reward_named(std::string_view name) { return row_named("reward", table(), name); }

}  // namespace attend::models
