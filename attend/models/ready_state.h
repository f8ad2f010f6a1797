// The state of networks whose answers are all computed when the source is read: they are handed out step by step.
#pragma once

#include <memory>

#include "attend/models/model.h"

namespace attend::models {

/// logits [N,T,V] of T answers for each of N sources.
std::unique_ptr<State> ready_state(Tensor logits);
/// The next of them, [N,V]; earlier choices do not matter.
Tensor next_ready(State& state, std::span<const int32_t> last);

/// The one label of each target [B]; rejects targets of any other length.
Ids labels_of(const char* where, const data::Sequences& target);

}  // namespace attend::models
