#include "attend/models/image_classifier.h"

#include "attend/models/rows.h"

namespace attend::models {

ImageClassifier::ImageClassifier(const ImageClassifierOptions& o, Random& random)
    : Labeller("image_classifier", make_encoder(o.encoder, random), o.labels, o.dropout, o.label_smoothing),
      all_(o.pooling == "all") {
  require_one_of("pooling", {"mean", "all"}, o.pooling);
  make_output(image_vector_size(name_, o.encoder, *encoder_, all_), random);
}

Var ImageClassifier::features(const data::Source& source, Training* training) const {
  return image_vector((*encoder_)(source, training), all_);
}

}  // namespace attend::models
