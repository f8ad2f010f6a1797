// Intra-attention: an LSTM that attends to its own past states instead of remembering only the last (Cheng et al. 2016,
// "Long short-term memory-networks for machine reading", section 3).
#pragma once

#include <vector>

#include "attend/attention/attention.h"
#include "attend/models/encoder.h"
#include "attend/nn/layers.h"
#include "attend/nn/recurrent.h"

namespace attend::models {

/// At step t, [xₜ; h̃ₜ₋₁] queries the states h₁ … hₜ₋₁ (additive score); the weighted sums h̃ₜ of the states and c̃ₜ of
/// the cells replace hₜ₋₁ and cₜ₋₁ in the LSTM's update.
class IntraLstm {
 public:
  /// `layer`: its place in a stack of them, for observers.
  IntraLstm(int64_t input, int64_t hidden, Random& random, int64_t layer = 0);
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

/// A stack of these over words. The summary is the last state.
class IntraEncoder : public Encoder {
 public:
  IntraEncoder(const EncoderOptions& options, Random& random);
  static std::unique_ptr<Encoder> make(const EncoderOptions& options, Random& random);

  Encoded operator()(const data::Source& source, Training* training) const override;
  EncodedSizes sizes() const override { return {.states = size_, .words = words_.size()}; }
  void params(const nn::VisitParams& visit) override;
  Var word_table() const override { return words_.table(); }

 private:
  int64_t size_;
  SourceEmbedding words_;
  nn::Dropout dropout_;
  std::vector<IntraLstm> layers_;
};

}  // namespace attend::models
