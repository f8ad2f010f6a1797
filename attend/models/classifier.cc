#include "attend/models/classifier.h"

#include "attend/autograd/ops.h"
#include "attend/models/rows.h"
#include "attend/nn/initial.h"

namespace attend::models {

Classifier::Classifier(const ClassifierOptions& o, Random& random)
    : Labeller("Classifier", make_encoder(o.encoder, random), o.labels, o.dropout, o.label_smoothing),
      pooling_(o.pooling) {
  require_one_of("pooling", {"last", "mean", "max", "attention"}, pooling_);
  int64_t width = encoder_->output_size();
  if (pooling_ == "attention") {
    AttentionConfig config = o.attention;
    refuse_previous(config, "attention.");
    config.query = config.key = width;
    attention_ = std::make_unique<Attention>(config, random, AttentionSite{"pooling", Purpose::pooling});
    query_ = Var::leaf(nn::initial("normal", {1, width}, random));
    width = attention_->context_size();
  }
  make_output(width, random);
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
Var Classifier::features(const data::Source& source, Training* training) const {
  require_not_empty(name_, source);
  const Encoded encoded = (*encoder_)(source, training);
  if (pooling_ == "mean") return mean_state(encoded.states, encoded.lengths);
  if (pooling_ == "max") return max_state(encoded.states, encoded.lengths);
  if (!attention_) return encoded.summary;
  AttentionStep how;
  if (training) how = {.random = &training->random, .update = training->update};
  const int64_t B = encoded.states.dim(0), Q = query_.dim(1);
  const Var queries = add(reshape(query_, {1, 1, Q}), Tensor::zeros({B, 1, 1}));
  const AttentionMemory memory = attention_->prepare(encoded.states, encoded.states, encoded.lengths);
  return reshape((*attention_)(queries, memory, how).context, {B, attention_->context_size()});
}

}  // namespace attend::models
