// What a stage of attention may need besides queries and keys; one small object keeps the signatures from growing.
#pragma once

#include <cstdint>

#include "attend/autograd/var.h"
#include "attend/base/random.h"

namespace attend {

struct AttentionStep {
  int64_t position = 0;      ///< of the first query, for windows and relative positions
  Random* random = nullptr;  ///< given in training: dropout, sampling, Gumbel noise; without it the likeliest is chosen
  int64_t update = 0;        ///< how many updates came before, for temperatures that fall
  bool weights = false;      ///< the caller needs AttentionRead::weights, which fused kernels do not produce
  Var coverage;              ///< [B,Tk] Σ of past weights, where the score takes it; undefined at the first step
  Var previous;  ///< [B,Tk] weights of the step before, where score or window look at them; undefined at the first
  /// [B,Tq,Tk] weights to read with in place of those that would be computed, for all heads; a row of −1 is not given.
  /// Pairs that do not meet have none. Undefined: nothing is given.
  Tensor given = {};
};

}  // namespace attend
