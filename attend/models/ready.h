// Answers that were all computed when the source was read.
#pragma once

#include <memory>
#include <span>

#include "attend/models/model.h"

namespace attend::models {

/// Hands out logits [N,T,V] step by step.
std::unique_ptr<State> ready_state(Tensor logits);
/// Model::next of such a state.
Tensor next_ready(State& state, std::span<const int32_t> last);

}  // namespace attend::models
