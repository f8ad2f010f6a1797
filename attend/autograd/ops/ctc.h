// Connectionist temporal classification: learns labels without knowing at which frame each occurs.
#pragma once

#include <cstdint>
#include <vector>

#include "attend/autograd/var.h"

namespace attend {

struct CtcOptions {
  int32_t blank = 0;
  /// A target that does not fit in its frames (each label takes one, and so does the blank between two equal ones) is
  /// an error; with this set it is left out of the mean and gets no gradient. If none fits, the loss is 0.
  bool skip_impossible = false;
};
/// Mean over the sequences of −ln p(target) (Graves et al. 2006, eq. 3 and 8): logits [T,B,V] time-major, of which
/// sequence b has the first lengths[b] frames, softmax inside; p(target) sums over all paths of labels and blanks that
/// collapse to it. Gradient: (softmax − expected occupancy)/B (eq. 16).
Var ctc_loss(const Var& logits, const std::vector<int32_t>& lengths, const std::vector<std::vector<int32_t>>& targets,
             const CtcOptions& options = {});

}  // namespace attend
