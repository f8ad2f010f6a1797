// What networks that label have in common: an encoder, an output layer, and an answer that is known once the source is read.
#pragma once

#include <memory>

#include "attend/models/encoder.h"
#include "attend/nn/layers.h"

namespace attend::models {

/// What their options begin with.
template <class OfEncoder>
struct LabellerOptions {
  OfEncoder encoder;
  int64_t labels = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("encoder", encoder, "");
    visit("labels", labels, "number of labels", bounds::count_or_none());
  }
};

/// One label for each source, softmax(W·v + b) with v a vector for the whole of it, unless a network says otherwise.
class Labeller : public Model {
 public:
  void params(const nn::VisitParams& visit) override;
  Var loss(const data::Batch& batch, Training* training = nullptr) const override;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return labels_; }
  int64_t answer_length(int64_t) const override { return 1; }
  int64_t longest_source() const override { return encoder_->longest(); }
  int64_t stride() const override { return encoder_->sizes().stride; }
  Var word_table() const override { return encoder_->word_table(); }
  /// [B,labels], or [B,T,labels] where there are several for each source.
  virtual Var logits(const data::Source& source, Training* training = nullptr) const;

 protected:
  /// `name` stands before messages.
  Labeller(const char* name, std::unique_ptr<Encoder> encoder, int64_t labels, double dropout = 0,
           double label_smoothing = 0);
  /// To be called by constructors, in the order in which parameters draw their first values.
  void make_output(int64_t width, Random& random, int64_t outputs_per_label = 1);
  /// What the output layer reads: [B,·], or [B,T,·].
  virtual Var features(const data::Source& source, Training* training) const = 0;
  /// The loss of logits, of a batch that has one target for each source.
  virtual Var loss_of(const Var& logits, const data::Batch& batch, bool training) const;

  const char* name_;
  int64_t labels_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<nn::Linear> output_;

 private:
  nn::Dropout dropout_;
  double label_smoothing_;
};

}  // namespace attend::models
