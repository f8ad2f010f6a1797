// One label for a sequence (many to one): an encoder, a pooling and a linear layer.
#pragma once

#include <memory>
#include <string>

#include "attend/attention/attention.h"
#include "attend/models/labeller.h"

namespace attend::models {

struct ClassifierOptions : LabellerOptions<SequenceEncoderOptions> {
  std::string pooling = "last";
  AttentionConfig attention{.score = "additive"};
  double dropout = 0, label_smoothing = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    LabellerOptions::fields(visit);
    visit("pooling", pooling,
          "how states become one: last (the encoder's summary), mean, max (of each feature), or attention (by a learned "
          "query)", bounds::one_of({"last", "mean", "max", "attention"}));
    visit("attention", attention, "");
    visit("dropout", dropout, "before the output", bounds::share());
    visit("label_smoothing", label_smoothing, "share of the target spread over all labels", bounds::share());
  }
};

class Classifier : public Labeller {
 public:
  Classifier(const ClassifierOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;

 private:
  Var features(const data::Source& source, Training* training) const override;

  std::string pooling_;
  std::unique_ptr<Attention> attention_;
  Var query_;  // [1,Q], learned
};

}  // namespace attend::models
