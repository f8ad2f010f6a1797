// One label for a sequence (many to one): an encoder, a pooling and a linear layer.
#pragma once

#include <memory>
#include <string>

#include "attend/attention/attention.h"
#include "attend/models/encoder.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct ClassifierOptions {
  EncoderOptions encoder;
  int64_t labels = 0;
  std::string pooling = "last";
  AttentionConfig attention{.score = "additive"};
  double dropout = 0, label_smoothing = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("encoder", encoder, "");
    visit("labels", labels, "number of labels");
    visit("pooling", pooling,
          "how states become one: last (the encoder's summary), mean, max (of each feature), or attention (by a learned "
          "query)");
    visit("attention", attention, "");
    visit("dropout", dropout, "before the output");
    visit("label_smoothing", label_smoothing, "share of the target spread over all labels");
  }
};

/// One label at the end. Its answer has one token.
class Classifier : public Model {
 public:
  Classifier(const ClassifierOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return options_.labels; }
  int64_t answer_length(int64_t) const override { return 1; }
  int64_t longest_source() const override { return encoder_->longest(); }
  Var word_table() const override { return encoder_->word_table(); }

 private:
  Var pooled(const Encoded& encoded, Training* training) const;
  Var logits(const data::Source& source, Training* training) const;

  ClassifierOptions options_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Attention> attention_;
  Var query_;  // [1,Q], learned
  nn::Dropout dropout_;
  std::unique_ptr<nn::Linear> output_;
};

}  // namespace attend::models
