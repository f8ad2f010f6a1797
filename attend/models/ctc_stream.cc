#include "attend/models/ctc_stream.h"

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/gemm.h"

namespace attend::models {

CtcStream::CtcStream(const CtcModel& model) : model_(model), stream_(model.encoder_->stream()) {
  require(stream_ != nullptr,
          "CtcStream: expected an encoder of sound that reads forwards alone (encoder.bidirectional ",
          "false, encoder.front none), got one whose states depend on what follows");
}

Tensor CtcStream::push(const Tensor& frames) {
  const kernels::SteadyRows steady;
  return logits(stream_->push(frames));
}

Tensor CtcStream::finish() {
  const kernels::SteadyRows steady;
  return logits(stream_->finish());
}

Tensor CtcStream::logits(const Tensor& states) const {
  const int64_t frames = states.dim(0) * model_.upsample_;
  if (frames == 0) return Tensor({0, model_.labels_});
  const TapePause pause;
  return (*model_.output_)(states).value().reshape({frames, model_.labels_});
}

}  // namespace attend::models
