#include "attend/models/ctc_model.h"

#include <algorithm>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/rows.h"
#include "attend/models/ctc_prefix.h"
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
  std::vector<int32_t> counts = source.lengths();
  for (int32_t& count : counts) count *= static_cast<int32_t>(upsample_);
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
  return logits(source).value();
}

namespace {

struct CtcState : State {
  std::vector<std::shared_ptr<const CtcPrefix>> sources;  // by hypothesis
  std::vector<CtcPrefix::State> prefixes;
  bool started = false;
  void take(std::span<const int32_t> rows) override {
    sources = taken(sources, rows);
    prefixes = taken(prefixes, rows);
  }
};

}  // namespace

std::unique_ptr<State> CtcModel::begin(const data::Source& source) const {
  const Tensor logits = frames(source);
  const std::vector<int32_t> counts = frame_counts(source);
  auto state = std::make_unique<CtcState>();
  for (int64_t b = 0; b < source.count(); ++b) {
    const Tensor one = logits[b].rows(0, counts[static_cast<size_t>(b)]);
    state->sources.push_back(std::make_shared<const CtcPrefix>(one, data::kPad));
    state->prefixes.push_back(state->sources.back()->begin());
  }
  return state;
}

Tensor CtcModel::next(State& state, std::span<const int32_t> last) const {
  auto& ctc = dynamic_cast<CtcState&>(state);
  require(last.size() == ctc.prefixes.size(), "CtcModel::next: expected one id for each of ", ctc.prefixes.size(),
          " hypotheses, got ", last.size());
  Tensor out({static_cast<int64_t>(last.size()), labels_});
  for (size_t n = 0; n < last.size(); ++n) {
    if (ctc.started) ctc.prefixes[n] = ctc.sources[n]->advance(ctc.prefixes[n], last[n]);
    std::vector<double> scores = ctc.sources[n]->scores(ctc.prefixes[n]);
    std::swap(scores[data::kEnd], scores[data::kPad]);  // the end takes the place of the blank
    for (size_t v = 0; v < scores.size(); ++v) {
      // A label that cannot follow has −∞: made finite, so that a softmax over the row remains valid.
      out.data()[n * scores.size() + v] = static_cast<real>(std::max(scores[v], double{kernels::kMaskedLog}));
    }
  }
  ctc.started = true;
  return out;
}

}  // namespace attend::models
