// Intra-attention: an LSTM that attends to its own past states instead of remembering only the last (Cheng et al. 2016,
// "Long short-term memory-networks for machine reading", section 3).
#pragma once

#include <vector>

#include "attend/attention/attention.h"
#include "attend/nn/layers.h"
#include "attend/nn/recurrent.h"

namespace attend::models {

/// At step t, [xₜ; h̃ₜ₋₁] asks the states h₁ … hₜ₋₁ (additive score); the weighted sums h̃ₜ of the states and c̃ₜ of the
/// cells take the place of hₜ₋₁ and cₜ₋₁ in the LSTM's update.
class IntraLstm {
 public:
  IntraLstm(int64_t input, int64_t hidden, Random& random);
  struct Output {
    Var y;     ///< [T,B,H], 0 past the end of a sequence
    Var last;  ///< [B,H]: each sequence's last state
  };
  /// x [T,B,I].
  Output operator()(const Var& x, const std::vector<int32_t>& lengths = {}) const;
  void params(const nn::VisitParams& visit);

 private:
  int64_t hidden_;
  nn::RecurrentCell cell_;
  Attention attention_;
};

}  // namespace attend::models
