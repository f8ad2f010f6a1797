// Networks that label their input: one label for a sequence (many to one), one per step (many to many), or a sequence of
// labels that is shorter than the input and not aligned with it (CTC, Graves et al. 2006).
#pragma once

#include <memory>
#include <string>

#include "attend/models/encoder.h"

namespace attend::models {

struct ClassifierOptions {
  EncoderOptions encoder;
  int64_t labels = 0;
  std::string pooling = "last";  // or "attention": a learned query asks all states
  AttentionConfig attention{.score = "additive"};

  template <class Visit>
  void fields(Visit&& visit) {
    visit("encoder", encoder, "");
    visit("labels", labels, "number of labels");
    visit("pooling", pooling, "last (the encoder's summary) or attention");
    visit("attention", attention, "");
  }
};

/// One label at the end. Its answer has one token.
class Classifier : public Model {
 public:
  Classifier(const ClassifierOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Sequences& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return options_.labels; }
  int64_t answer_length(int64_t) const override { return 1; }

 private:
  Var logits(const data::Sequences& source, Training* training) const;

  ClassifierOptions options_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Attention> attention_;
  Var query_;  // [1,Q], learned
  std::unique_ptr<nn::Linear> output_;
};

struct TaggerOptions {
  EncoderOptions encoder;
  int64_t labels = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("encoder", encoder, "");
    visit("labels", labels, "number of labels");
  }
};

/// One label per step. Its answer is as long as the source.
class Tagger : public Model {
 public:
  Tagger(const TaggerOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Sequences& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return options_.labels; }
  int64_t answer_length(int64_t source_length) const override { return source_length; }

 private:
  TaggerOptions options_;
  std::unique_ptr<Encoder> encoder_;
  nn::Linear output_;
};

/// A sequence of labels by CTC; the blank is data::kPad. `next` gives the probability of each label after a prefix
/// (ctc_prefix.h), so every search works on it; decode/ctc.h has the searches over frames.
class CtcModel : public Model {
 public:
  CtcModel(const TaggerOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  /// Mean over sequences of −ln p(target).
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Sequences& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return options_.labels; }
  /// Logits by frame, for best_path and ctc_beam: [B,T,V].
  Tensor frames(const data::Sequences& source) const;

 private:
  TaggerOptions options_;
  std::unique_ptr<Encoder> encoder_;
  nn::Linear output_;
};

}  // namespace attend::models
