#include "attend/models/attention_losses.h"

#include <algorithm>
#include <vector>

#include "attend/attention/coverage.h"
#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"

namespace attend::models {
namespace {

/// ln 1e-30: what a word counts as that can only be copied, from a place that was not drawn.
constexpr real kLeastReward = real(-69.0776);

/// ln p of the correct words, and 1 where one counts: both [N,T].
struct Rewards {
  Tensor rewards, counts;
};

Rewards rewards_of(const Var& logits, const Ids& targets) {
  const TapePause pause;
  const int64_t T = targets.shape[0], N = targets.shape[1];
  Ids known = targets;
  for (int32_t& id : known.values) id = std::max(id, 0);
  const Tensor log_p = gather(log_softmax(logits.detach()), known).value();
  Rewards all{Tensor({N, T}), Tensor({N, T})};
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t n = 0; n < N; ++n) {
      const bool counted = targets.values[static_cast<size_t>(t * N + n)] >= 0;
      all.counts.data()[n * T + t] = counted ? real{1} : real{0};
      all.rewards.data()[n * T + t] = counted ? std::max(log_p.data()[t * N + n], kLeastReward) : real{0};
    }
  }
  return all;
}

}  // namespace

Var AttentionLosses::operator()(const AttentionTrail& trail, const Var& logits, const Ids& targets,
                                std::span<const int32_t> target_lengths,
                                std::span<const int32_t> source_lengths) const {
  Var total;
  const auto include = [&](const Var& part, double weight) {
    const Var scaled = affine(part, static_cast<real>(weight));
    total = total.defined() ? add(total, scaled) : scaled;
  };
  std::vector<int32_t> steps(target_lengths.begin(), target_lengths.end());
  for (int32_t& length : steps) ++length;  // the end counts
  if (coverage != 0) include(coverage_penalty(trail.weights, steps), coverage);
  if (doubly_stochastic != 0) {
    include(doubly_stochastic_penalty(trail.weights, steps, source_lengths), doubly_stochastic);
  }
  if (!trail.log_probability.defined()) return total;
  require(reinforce != nullptr,
          "attention: expected a network that was made with align sample where weights are drawn");
  const Rewards given = rewards_of(logits, targets);
  include((*reinforce)(given.rewards, trail.log_probability, trail.entropy, given.counts,
                       transpose(trail.asked.detach(), 0, 1)),
          1);
  return total;
}

}  // namespace attend::models
