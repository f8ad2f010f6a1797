// CTC while a sound is heard: frames go in piece by piece, and logits of the places that they complete come out.
#pragma once

#include <memory>

#include "attend/models/ctc_model.h"

namespace attend::models {

/// What it gives, one after the other, are the logits that CtcModel::frames gives of the whole sound, bit for bit; for
/// encoders that read forwards alone (encoder.bidirectional false, encoder.front none).
///
///   CtcStream stream(model);
///   while (…) use(stream.push(frames));  // [t,F] → [n,labels]
///   use(stream.finish());
class CtcStream {
 public:
  /// `model` must outlive it. Throws Error if its encoder needs to know what follows.
  explicit CtcStream(const CtcModel& model);
  /// Frames [t,F] → logits [n,labels] of the places that they complete; n may be 0.
  Tensor push(const Tensor& frames);
  /// No more frames follow: logits of the places that are left.
  Tensor finish();

 private:
  Tensor logits(const Tensor& states) const;

  const CtcModel& model_;
  std::unique_ptr<EncoderStream> stream_;
};

}  // namespace attend::models
