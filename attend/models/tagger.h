// One label for each place of a sequence (many to many): an encoder and a linear layer, whose labels are chosen
// separately or jointly.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/models/encoder.h"
#include "attend/nn/crf.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct TaggerOptions {
  EncoderOptions encoder;
  int64_t labels = 0;
  std::string output = "softmax";
  double dropout = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("encoder", encoder, "");
    visit("labels", labels, "number of labels");
    visit("output", output,
          "softmax: each label by itself; crf: all labels of a sequence jointly, with scores for neighbours");
    visit("dropout", dropout, "before the output");
  }
};

/// One label per place. Its answer is as long as the source. With a conditional random field the labels of a sequence depend
/// on each other (Lample et al. 2016; Ma & Hovy 2016): `next` gives p(yₜ | y₀ … yₜ₋₁, x), exactly, and `best` the likeliest
/// labelling.
class Tagger : public Model {
 public:
  Tagger(const TaggerOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  /// Mean over the places of −ln p.
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  std::vector<std::vector<int32_t>> best(const State& state) const override;
  int64_t vocabulary() const override { return options_.labels; }
  int64_t answer_length(int64_t source_length) const override { return source_length; }
  int64_t longest_source() const override { return encoder_->longest(); }
  Var word_table() const override { return encoder_->word_table(); }

 private:
  struct FieldState;

  Var emissions(const data::Source& source, Training* training) const;
  Var field_loss(const Var& emissions, const data::Batch& batch) const;

  TaggerOptions options_;
  std::unique_ptr<Encoder> encoder_;
  nn::Dropout dropout_;
  nn::Linear output_;
  std::unique_ptr<nn::Crf> crf_;  // none: a softmax
};

}  // namespace attend::models
