// Decoding of frame-wise logits with blanks: from a network that was trained with ctc_loss to a sequence of labels.
#pragma once

#include <cstdint>
#include <vector>

#include "attend/decode/hypothesis.h"
#include "attend/tensor/tensor.h"

namespace attend::decode {

/// The labelling of the likeliest path (Graves et al. 2006, "best path decoding"): logits [T,V] of one sequence; the
/// largest of each frame, with repetitions collapsed and blanks removed. The likeliest labelling may be another one.
std::vector<int32_t> best_path(const Tensor& logits, int32_t blank = 0);

/// Prefix beam search (Hannun et al. 2014, algorithm 1, without a language model): logits [T,V] of one sequence; the
/// `beam` likeliest prefixes are kept from frame to frame, each with the sum of its paths. Returns the n_best
/// labellings, best first; score = log_probability = ln of the sum of their paths in the beam, which is exact if the
/// beam loses none. There are no predictions per token: token_log_probabilities is empty.
std::vector<Hypothesis> ctc_beam(const Tensor& logits, int32_t blank = 0, int64_t beam = 10, int64_t n_best = 1);

}  // namespace attend::decode
