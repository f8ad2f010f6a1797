// REINFORCE (Williams 1992): gradients for choices that were drawn. ∇E[R] = E[(R − b)·∇ln p(choice)], for any baseline b
// that does not depend on the choice; a good one lowers the variance and changes nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attend/base/bounds.h"
#include "attend/base/random.h"
#include "attend/nn/layer.h"

namespace attend {

struct BaselineRow {
  std::string_view name, formula;
};
std::span<const BaselineRow> baselines();

struct ReinforceOptions {
  std::string baseline = "moving_average";
  double decay = 0.95;     // of the moving averages
  bool normalise = false;  // divide the advantage by the rewards' running standard deviation
  double entropy = 0;      // bonus per nat of entropy: keeps the choice open
  double discount = 1;     // of later rewards: 1 is the whole return (unbiased), 0 only the immediate reward

  template <class Visit>
  void fields(Visit&& visit) {
    visit("baseline", baseline, "what is subtracted from the reward: none, moving_average, learned",
          bounds::one_of(baselines()));
    visit("decay", decay, "of the moving average", bounds::share());
    visit("normalise", normalise, "divide by the rewards' running standard deviation");
    visit("entropy", entropy, "bonus per nat of entropy");
    visit("discount", discount, "of later rewards; 1 is unbiased", bounds::within(0, 1));
  }
};

/// −Σ counts∘advantage∘ln p / Σ counts: its gradient is the estimate of −∇E[R]. All [..] of one shape; advantage and
/// counts are constants.
Var reinforce_loss(const Var& log_probability, const Tensor& advantage, const Tensor& counts = {});

class Reinforce {
 public:
  /// `features`: width of what a learned baseline sees (0 where there is none).
  Reinforce(const ReinforceOptions& options, int64_t features, Random& random);

  /// The loss for choices [B,T] with `rewards` [B,T] given after each of them; steps with counts 0 do not count.
  /// `features` [B,T,F] are detached from the tape: the baseline learns from them, but they do not learn from it.
  Var operator()(const Tensor& rewards, const Var& log_probability, const Var& entropy, const Tensor& counts,
                 const Var& features = {}) const;
  /// Running averages are among them, as constants: they are saved and never optimised.
  void params(const nn::VisitParams& visit);

 private:
  Tensor returns(const Tensor& rewards, const Tensor& counts) const;
  void update_averages(const Tensor& returns, const Tensor& counts) const;

  ReinforceOptions options_;
  mutable Var averages_;  // [3]: mean and mean square of the return, and how many updates they have seen
  Var weight_, bias_;     // learned baseline: b = w·features + bias
};

}  // namespace attend
