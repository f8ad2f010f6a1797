// An encoder–decoder whose encoder also learns by CTC, which keeps attention to a sound in order, and answers with both
// (Watanabe et al. 2017, "Hybrid CTC/attention architecture for end-to-end speech recognition").
#pragma once

#include <memory>

#include "attend/models/encoder_decoder_options.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct JointOptions : EncoderDecoderOptions {
  double ctc_weight = 0.3, decode_ctc_weight = 0.3;

  template <class Visit>
  void fields(Visit&& visit) {
    EncoderDecoderOptions::fields(visit);
    visit("ctc_weight", ctc_weight, "share of CTC in what is learned from (lambda)", bounds::within(0.0, 1.0));
    visit("decode_ctc_weight", decode_ctc_weight, "share of CTC in what answers are chosen by",
          bounds::within(0.0, 1.0));
  }
};

/// In training λ·L_ctc + (1 − λ)·L_attention, both per token of the targets and of their ends: L_ctc is the sum over the
/// sequences of −ln p_ctc(y|x), divided by the number of these tokens (eq. 13, where both are sums). Without `training` λ is
/// the share that answers are chosen by, λ_d: the loss is what a search says of the target.
///
/// `next` gives (1 − λ_d)·ln p_attention(c|g) + λ_d·ln p_ctc(c|g) of each token c (section IV.B, one pass), with prefix
/// probabilities that sum over all frames: over a whole answer they add up to the same mixture of ln p_attention and ln p_ctc.
/// CTC gives the end of an answer that says more or less than the sound a small probability.
class Joint : public EncoderDecoder {
 public:
  Joint(const JointOptions& options, Random& random);

  void params(const nn::VisitParams& visit) override;
  Var loss(const data::Batch& batch, Training* training = nullptr) const override;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  /// Whether training teaches it CTC at all.
  bool learns_ctc() const { return weight_ > 0; }
  /// CTC's logits [B,T,V] of each encoded place; the blank is data::kPad.
  Tensor frames(const data::Source& source) const;
  /// Softmax of these.
  Tensor posteriors(const data::Source& source) const;

 private:
  struct Hypotheses;

  Var ctc_loss_of(const Encoded& encoded, const data::Batch& batch) const;

  double weight_, decode_weight_;
  nn::Linear output_;
};

}  // namespace attend::models
