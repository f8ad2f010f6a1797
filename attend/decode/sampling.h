// Sampling: one random id from a row of logits.
#pragma once

#include <cstdint>
#include <span>

#include "attend/base/random.h"
#include "attend/base/real.h"

namespace attend::decode {

struct SamplingOptions {
  double temperature = 1;  ///< logits are divided by it
  int64_t top_k = 0;       ///< only the k likeliest (Fan et al. 2018); 0: all
  double top_p = 1;        ///< of those, the fewest that together have this share (Holtzman et al. 2020)
};

/// Draws from softmax(logits / temperature), restricted to top_k and top_p, without the banned ids; uses one number of
/// `random`. `scratch` has the size of `logits` and is overwritten. Returns −1 if nothing may be drawn.
int32_t draw(std::span<const real> logits, std::span<const int32_t> banned, const SamplingOptions& options,
             Random& random, std::span<real> scratch);

}  // namespace attend::decode
