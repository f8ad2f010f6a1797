#include "attend/models/classifier.h"

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/models/ready_state.h"
#include "attend/models/rows.h"
#include "attend/nn/initial.h"

namespace attend::models {

Classifier::Classifier(const ClassifierOptions& options, Random& random)
    : options_(options),
      encoder_(make_encoder(options.encoder, random)),
      dropout_(static_cast<real>(options.dropout)) {
  require_one_of("pooling", {"last", "mean", "max", "attention"}, options.pooling);
  require(options.label_smoothing >= 0 && options.label_smoothing < 1,
          "label_smoothing: expected a share in [0, 1), got ", options.label_smoothing);
  int64_t width = encoder_->output_size();
  if (options.pooling == "attention") {
    AttentionConfig config = options.attention;
    config.query = config.key = width;
    attention_ = std::make_unique<Attention>(config, random, AttentionSite{"pooling", Purpose::pooling});
    query_ = Var::leaf(nn::initial("normal", {1, width}, random));
    width = attention_->context_size();
  }
  output_ = std::make_unique<nn::Linear>(width, require_size("labels", options.labels), random);
}

void Classifier::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", *encoder_);
  if (attention_) {
    nn::visit_part(visit, "attention", *attention_);
    visit("query", query_);
  }
  nn::visit_part(visit, "output", *output_);
}

/// [B,T,D] → [B,·].
Var Classifier::pooled(const Encoded& encoded, Training* training) const {
  if (options_.pooling == "mean") return mean_state(encoded.states, encoded.lengths);
  if (options_.pooling == "max") return max_state(encoded.states, encoded.lengths);
  if (!attention_) return encoded.summary;
  AttentionStep how;
  if (training) how = {.random = &training->random, .update = training->update};
  const int64_t B = encoded.states.dim(0), Q = query_.dim(1);
  const Var queries = add(reshape(query_, {1, 1, Q}), Tensor::zeros({B, 1, 1}));
  const AttentionMemory memory = attention_->prepare(encoded.states, encoded.states, encoded.lengths);
  return reshape((*attention_)(queries, memory, how).context, {B, attention_->context_size()});
}

Var Classifier::logits(const data::Source& source, Training* training) const {
  require_not_empty("Classifier", source);
  return (*output_)(dropout_(pooled((*encoder_)(source, training), training), random_of(training)));
}

Var Classifier::loss(const data::Batch& batch, Training* training) const {
  require_same_count("Classifier", batch);
  refuse_own_words("Classifier", training);
  return cross_entropy(logits(batch.source, training), labels_of("Classifier", batch.target),
                       {.smoothing = training ? static_cast<real>(options_.label_smoothing) : 0});
}

std::unique_ptr<State> Classifier::begin(const data::Source& source) const {
  const TapePause pause;
  return ready_state(logits(source, nullptr).value().reshape({source.count(), 1, options_.labels}));
}

Tensor Classifier::next(State& state, std::span<const int32_t> last) const { return next_ready(state, last); }

}  // namespace attend::models
