#include "attend/models/image_classifier.h"

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/models/ready_state.h"
#include "attend/models/rows.h"

namespace attend::models {

ImageClassifier::ImageClassifier(const ImageClassifierOptions& options, Random& random)
    : options_(options),
      encoder_(make_encoder(options.encoder, random)),
      dropout_(static_cast<real>(options.dropout)) {
  require_one_of("pooling", {"mean", "all"}, options.pooling);
  const int64_t width = image_vector_size("image_classifier", options.encoder, *encoder_, options.pooling == "all");
  output_ = std::make_unique<nn::Linear>(width, require_size("labels", options.labels), random);
}

void ImageClassifier::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", *encoder_);
  nn::visit_part(visit, "output", *output_);
}

Var ImageClassifier::logits(const data::Source& source, Training* training) const {
  const Var vector = image_vector((*encoder_)(source, training), options_.pooling == "all");
  return (*output_)(dropout_(vector, random_of(training)));
}

Var ImageClassifier::loss(const data::Batch& batch, Training* training) const {
  require_same_count("image_classifier", batch);
  refuse_own_words("image_classifier", training);
  const double smoothing = training ? options_.label_smoothing : 0;
  return cross_entropy(logits(batch.source, training), labels_of("image_classifier", batch.target),
                       {.smoothing = static_cast<real>(smoothing)});
}

std::unique_ptr<State> ImageClassifier::begin(const data::Source& source) const {
  const TapePause pause;
  return ready_state(logits(source).value().reshape({source.count(), 1, options_.labels}));
}

Tensor ImageClassifier::next(State& state, std::span<const int32_t> last) const { return next_ready(state, last); }

}  // namespace attend::models
