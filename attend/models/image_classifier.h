// One label for an image: an encoder of images and a linear layer. Fully connected and convolutional ones are
// baselines.
#pragma once

#include <string>

#include "attend/models/image_encoder.h"
#include "attend/models/labeller.h"

namespace attend::models {

struct ImageClassifierOptions : LabellerOptions<ImageEncoderOptions> {
  std::string pooling = "mean";
  double dropout = 0, label_smoothing = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    LabellerOptions::fields(visit);
    visit("pooling", pooling, "mean of the cells, or all of them concatenated (needs encoder.height and width)",
          bounds::one_of({"mean", "all"}));
    visit("dropout", dropout, "before the output", bounds::share());
    visit("label_smoothing", label_smoothing, "share of the target spread over all labels", bounds::share());
  }
};

/// softmax(W·v + b), v the image's vector; labels are 0 … labels − 1.
class ImageClassifier : public Labeller {
 public:
  ImageClassifier(const ImageClassifierOptions& options, Random& random);

 private:
  Var features(const data::Source& source, Training* training) const override;

  bool all_;
};

}  // namespace attend::models
