// A sequence of labels that is not aligned with the input, by connectionist temporal classification (Graves et al. 2006).
#pragma once

#include <memory>
#include <vector>

#include "attend/models/encoder.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct CtcModelOptions {
  EncoderOptions encoder;
  int64_t labels = 0;
  int64_t upsample = 1;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("encoder", encoder, "");
    visit("labels", labels, "number of labels");
    visit("upsample", upsample, "frames for each place of the input: an answer has at most one label in each");
  }
};

/// A sequence of labels by CTC; the blank is data::kPad. `next` gives the probability of each label after a prefix
/// (ctc_prefix.h), so every search works with it; decode/ctc.h has the searches over frames.
class CtcModel : public Model {
 public:
  CtcModel(const CtcModelOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  /// Mean over sequences of −ln p(target). A target that needs more frames than its source has is left out of the mean, and
  /// nothing is learned from it.
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return options_.labels; }
  int64_t longest_source() const override { return encoder_->longest(); }
  Var word_table() const override { return encoder_->word_table(); }
  /// Logits by frame, for best_path and ctc_beam: [B,T·upsample,V].
  Tensor frames(const data::Source& source) const;

 private:
  Var logits(const data::Source& source, Training* training) const;
  std::vector<int32_t> frame_counts(const data::Source& source) const;

  CtcModelOptions options_;
  std::unique_ptr<Encoder> encoder_;
  nn::Linear output_;  // each frame of a place has its own rows
};

}  // namespace attend::models
