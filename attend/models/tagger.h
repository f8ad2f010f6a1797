// One label for each place of a sequence (many to many): an encoder and a linear layer, whose labels are chosen
// separately or jointly.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/models/labeller.h"
#include "attend/nn/crf.h"

namespace attend::models {

struct TaggerOptions : LabellerOptions<SequenceEncoderOptions> {
  std::string output = "softmax";
  double dropout = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    LabellerOptions::fields(visit);
    visit("output", output,
          "softmax: each label by itself; crf: all labels of a sequence jointly, with scores for neighbours",
          bounds::one_of({"softmax", "crf"}));
    visit("dropout", dropout, "before the output", bounds::share());
  }
};

/// One label per place. Its answer is as long as the source. With a conditional random field the labels of a sequence depend
/// on each other (Lample et al. 2016; Ma & Hovy 2016): `next` gives p(yₜ | y₀ … yₜ₋₁, x), exactly, and `best` the likeliest
/// labelling.
class Tagger : public Labeller {
 public:
  Tagger(const TaggerOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  /// Of the likeliest labelling alone.
  std::vector<std::vector<BestAnswer>> best(const State& state, int64_t count) const override;
  int64_t answer_length(int64_t source_length) const override { return source_length; }

 private:
  struct FieldState;

  Var features(const data::Source& source, Training* training) const override;
  /// Mean over the places of −ln p.
  Var loss_of(const Var& emissions, const data::Batch& batch, bool training) const override;
  Var field_loss(const Var& emissions, const data::Batch& batch) const;

  std::unique_ptr<nn::Crf> crf_;  // none: a softmax
};

}  // namespace attend::models
