// Which frames say which label: the likeliest path of a labelling that is given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend::decode {

/// Frames [begin, end) on which a label is said.
struct LabelFrames {
  int64_t begin = 0, end = 0;
  bool operator==(const LabelFrames&) const = default;
};

/// The likeliest path through the frames that collapses to these labels (Viterbi over the lattice of Graves et al. 2006, section
/// 4.1, with the largest instead of the sum): logits [T,V] of one sequence; the frames of each label. Throws Error where there
/// are fewer frames than such a path needs: one for each label, and one between two equal ones.
std::vector<LabelFrames> ctc_alignment(const Tensor& logits, std::span<const int32_t> labels, int32_t blank = 0);

}  // namespace attend::decode
