// Evidence: whether the answer really depends on what a map shows. Each line changes one thing and says what that does
// to the answer's mean log-probability (Jain & Wallace 2019; Wiegreffe & Pinter 2019; Michel et al. 2019).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/explain/methods.h"

namespace attend::explain {

/// `map` [steps, source tokens]; `word_of` gives each source token's word. Lines: without the word that the map points
/// to, for each prediction its own; without any other word (the mean over all of them, so that chance plays no part);
/// with equal or shuffled weights; and with each head switched off, if there are several.
std::vector<TraceEvidence> evidence(const Answered& answered, const Tensor& map, std::span<const int32_t> word_of);

}  // namespace attend::explain
