// Attention weights that a decoder is given, in place of those that it would compute: gold word alignments, or what somebody
// wants it to look at.
#pragma once

#include <span>

#include "attend/data/batch.h"

namespace attend::models {

/// By step of the answer; step T of an answer of T tokens is its end.
class GivenWeights {
 public:
  GivenWeights() = default;
  /// What the source has of them (Source::add_given), for states at `places` places.
  GivenWeights(const data::Source& source, int64_t places);
  bool any() const { return weights_.defined(); }
  /// As State::take.
  void take(std::span<const int32_t> rows);
  /// AttentionStep::given of the first `steps` steps, [N,steps,S]; undefined: none is given.
  Tensor first(int64_t steps) const;
  /// The same of one step, [N,1,S].
  Tensor at(int64_t step) const;

 private:
  void fill_step(int64_t row, int64_t step, real* to) const;

  Tensor weights_;   // [N,T,S]; a row of −1 is not given
  real after_ = -1;  // what fills the rows of later steps
};

}  // namespace attend::models
