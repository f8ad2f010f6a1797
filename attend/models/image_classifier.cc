#include "attend/models/image_classifier.h"

#include <algorithm>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/ready_state.h"
#include "attend/models/rows.h"

namespace attend::models {

ImageClassifier::ImageClassifier(const ImageClassifierOptions& options, Random& random)
    : options_(options),
      encoder_(make_image_encoder(options.encoder, random)),
      dropout_(static_cast<real>(options.dropout)) {
  const std::string_view poolings[] = {"mean", "all"};
  if (std::ranges::find(poolings, options.pooling) == std::end(poolings)) {
    refuse_name("pooling", poolings, options.pooling);
  }
  const int64_t width = image_vector_size("ImageClassifier", options.encoder, *encoder_, options.pooling == "all");
  output_ = std::make_unique<nn::Linear>(width, require_size("labels", options.labels), random);
}

void ImageClassifier::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", *encoder_);
  nn::visit_part(visit, "output", *output_);
}

Var ImageClassifier::logits(const data::Sequences& source, Training* training) const {
  const ImageEncoderOptions& o = options_.encoder;
  const Tensor& images = require_images("ImageClassifier", source, o.channels, o.height, o.width);
  const Var vector = image_vector((*encoder_)(images, training), options_.pooling == "all");
  return (*output_)(dropout_(vector, training ? &training->random : nullptr));
}

Var ImageClassifier::loss(const data::Batch& batch, Training* training) const {
  require_same_count("ImageClassifier", batch);
  refuse_own_words("ImageClassifier", training);
  const double smoothing = training ? options_.label_smoothing : 0;
  return cross_entropy(logits(batch.source, training), labels_of("ImageClassifier", batch.target),
                       {.smoothing = static_cast<real>(smoothing)});
}

std::unique_ptr<State> ImageClassifier::begin(const data::Sequences& source) const {
  const TapePause pause;
  return ready_state(logits(source).value().reshape({source.count(), 1, options_.labels}));
}

Tensor ImageClassifier::next(State& state, std::span<const int32_t> last) const { return next_ready(state, last); }

}  // namespace attend::models
