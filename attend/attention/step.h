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
};

}  // namespace attend
