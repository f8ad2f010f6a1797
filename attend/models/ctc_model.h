// A sequence of labels that is not aligned with the input, by connectionist temporal classification (Graves et al. 2006).
#pragma once

#include <memory>
#include <vector>

#include "attend/models/labeller.h"

namespace attend::models {

struct CtcModelOptions : LabellerOptions<SequenceEncoderOptions> {
  int64_t upsample = 1;

  template <class Visit>
  void fields(Visit&& visit) {
    LabellerOptions::fields(visit);
    visit("upsample", upsample, "frames for each place of the input: an answer has at most one label in each",
          bounds::layers());
  }
};

/// A sequence of labels by CTC; the blank is data::kPad. `next` gives the probability of each label after a prefix
/// (ctc_prefix.h), so every search works with it; decode/ctc.h has the searches over frames.
class CtcModel : public Labeller {
 public:
  CtcModel(const CtcModelOptions& options, Random& random);
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t answer_length(int64_t) const override { return -1; }
  /// As many as it has frames.
  int64_t longest_answer(int64_t source_length) const override {
    return encoder_->sizes().places(source_length) * upsample_;
  }
  /// By frame: [B,T·upsample,labels], T the encoded places.
  Var logits(const data::Source& source, Training* training = nullptr) const override;
  /// The same in use, for best_path and ctc_beam.
  Tensor frames(const data::Source& source) const;
  /// What it thinks that each frame says, labels and the blank: softmax of these.
  Tensor posteriors(const data::Source& source) const;
  /// How many of the frames each source has.
  std::vector<int32_t> frame_counts(const data::Source& source) const;

 private:
  Var features(const data::Source& source, Training* training) const override;
  /// Mean over sequences of −ln p(target). A target that needs more frames than its source has is left out of the mean, and
  /// nothing is learned from it.
  Var loss_of(const Var& logits, const data::Batch& batch, bool training) const override;
  friend class CtcStream;

  int64_t upsample_;
};

}  // namespace attend::models
