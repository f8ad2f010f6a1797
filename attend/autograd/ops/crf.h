// Conditional random fields: the labels of a whole sequence are scored together.
#pragma once

#include <cstdint>
#include <vector>

#include "attend/autograd/var.h"

namespace attend {

/// What a linear-chain field adds to the emissions of L labels.
struct CrfWeights {
  Var transitions;  ///< [L,L], from × to
  Var start, end;   ///< [L]
};

/// −ln p(tags) of each sequence, [B], with p(y) = e^s(y) / Σ e^s over all labellings, and s(y) = start[y₀] + Σₜ eₜ[yₜ]
/// + Σₜ A[yₜ,yₜ₊₁] + end[y_T₋₁] (Lafferty et al. 2001; Lample et al. 2016, eq. 1). emissions [B,T,L], of which sequence
/// b has the first lengths[b] places (none: a loss of 0); tags [B,T], where −1 is an unknown label: p is then that of
/// all labellings that agree with the known ones (Tsuboi et al. 2008). Gradient: expected counts over all labellings
/// minus those over the ones that agree, by forward–backward. The loss is per sequence; callers take the mean they
/// need, such as per place for a perplexity. With `given` [B,T] (−1: unknown) the loss is −ln p(tags | given): all
/// labellings are then those that agree with it, and tags must. In one step, as −ln p(tags) + ln p(given) in floats
/// would lose the digits of a small difference, and so would its gradient.
Var crf_loss(const Var& emissions, const CrfWeights& weights, const Ids& tags, const std::vector<int32_t>& lengths,
             const Ids& given = {});

}  // namespace attend
