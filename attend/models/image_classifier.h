// One label for an image: an encoder of images and a linear layer. Fully connected and convolutional ones are
// baselines.
#pragma once

#include <memory>

#include "attend/models/image_encoder.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct ImageClassifierOptions {
  ImageEncoderOptions encoder;
  int64_t labels = 0;
  std::string pooling = "mean";
  double dropout = 0, label_smoothing = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("encoder", encoder, "");
    visit("labels", labels, "number of labels");
    visit("pooling", pooling, "mean of the cells, or all of them concatenated (needs encoder.height and width)");
    visit("dropout", dropout, "before the output");
    visit("label_smoothing", label_smoothing, "share of the target spread over all labels");
  }
};

/// softmax(W·v + b), v the image's vector; labels are 0 … labels − 1. Its answer has one token.
class ImageClassifier : public Model {
 public:
  ImageClassifier(const ImageClassifierOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return options_.labels; }
  int64_t answer_length(int64_t) const override { return 1; }
  /// Logits [B,labels] of images.
  Var logits(const data::Source& source, Training* training = nullptr) const;

 private:
  ImageClassifierOptions options_;
  std::unique_ptr<Encoder> encoder_;
  nn::Dropout dropout_;
  std::unique_ptr<nn::Linear> output_;
};

}  // namespace attend::models
