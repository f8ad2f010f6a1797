#include "attend/models/ctc_model.h"

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/gemm.h"
#include "attend/models/ctc_hypotheses.h"
#include "attend/models/rows.h"

namespace attend::models {

CtcModel::CtcModel(const CtcModelOptions& options, Random& random)
    : Labeller("CtcModel", make_encoder(options.encoder, random), options.labels), upsample_(options.upsample) {
  make_output(encoder_->output_size(), random, require_size("upsample", upsample_));
  require(labels_ > data::kEnd, "CtcModel: expected more labels than the reserved ones, got ", labels_);
}

Var CtcModel::features(const data::Source& source, Training* training) const {
  require_not_empty(name_, source);
  return (*encoder_)(source, training).states;
}

/// [B,T,n·V] → [B,T·n,V]: the frames of a place are consecutive, each from rows of its own of the output layer.
Var CtcModel::logits(const data::Source& source, Training* training) const {
  const Var y = Labeller::logits(source, training);
  return upsample_ == 1 ? y : reshape(y, {y.dim(0), y.dim(1) * upsample_, labels_});
}

std::vector<int32_t> CtcModel::frame_counts(const data::Source& source) const {
  const EncodedSizes sizes = encoder_->sizes();
  std::vector<int32_t> counts;
  for (const int32_t length : source.lengths()) {
    counts.push_back(static_cast<int32_t>(sizes.places(length) * upsample_));
  }
  return counts;
}

Var CtcModel::loss_of(const Var& logits, const data::Batch& batch, bool) const {
  require(batch.only.empty(), "CtcModel: expected a loss of whole sequences; its places cannot be told apart");
  std::vector<std::vector<int32_t>> targets;
  for (int64_t b = 0; b < batch.target.count(); ++b) targets.push_back(batch.target.row(b));
  return ctc_loss(transpose(logits, 0, 1), frame_counts(batch.source), targets,
                  {.blank = data::kPad, .skip_impossible = true});
}

Tensor CtcModel::frames(const data::Source& source) const {
  const TapePause pause;
  const kernels::SteadyRows steady;  // as CtcStream gives them
  return logits(source).value();
}

Tensor CtcModel::posteriors(const data::Source& source) const {
  const TapePause pause;
  return softmax(Var(frames(source))).value();
}

std::unique_ptr<State> CtcModel::begin(const data::Source& source) const {
  return std::make_unique<CtcHypotheses>(frames(source), frame_counts(source));
}

Tensor CtcModel::next(State& state, std::span<const int32_t> last) const {
  return dynamic_cast<CtcHypotheses&>(state).next(last);
}

}  // namespace attend::models
