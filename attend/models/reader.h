// The reader: finds the answer to a question as a span of a document (Seo et al. 2017). It reads the parts "document" and
// "question" of a source, with "document.letters" and "question.letters" where it looks inside words. Its answer is two places of
// the document, the first and the last word of the span; both are the document's length where there is no answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/autograd/ops/span.h"
#include "attend/models/state_layers.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct ReaderOptions {
  EncoderOptions encoder{.size = 128};
  AttentionConfig attention{.score = "trilinear"};
  bool match = true;
  StateLayerOptions modelling{.layers = 2};
  bool self_matching = false;
  std::string spans = "joint";
  bool no_answer = false;
  int64_t longest_answer = 15;
  double dropout = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("encoder", encoder, "");
    visit("attention", attention, "");
    visit("match", match, "words of the document that the question has too are marked");
    visit("modelling", modelling, "");
    visit("self_matching", self_matching, "after that, each place of the document attends to all others");
    visit("spans", spans,
          "joint: one distribution over all spans; apart: one over their first words, one over their last",
          bounds::one_of({"joint", "apart"}));
    visit("no_answer", no_answer, "it may say that the document has no answer");
    visit("longest_answer", longest_answer, "most words of an answer that is searched for", bounds::width());
    visit("dropout", dropout, "on what the texts make of each other, and on what the modelling layers make of that",
          bounds::share());
  }
};

/// Both texts are read by one encoder, document h and question u. Attention both ways: ũₜ is what word t of the document reads of
/// the question; h̃ what the question reads of the document, by softmaxₜ(maxⱼ Sₜⱼ). G = [h; ũ; h∘ũ; h∘h̃] (eq. 4), M = layers(G),
/// start = w₁ᵀ[G; M] + b₁, M² = layer(M), end = w₂ᵀ[G; M²] + b₂ (section 2, 5–6).
class Reader : public Model {
 public:
  static constexpr std::string_view kDocument = "document", kQuestion = "question";

  Reader(const ReaderOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  Var loss(const data::Batch& batch, Training* training = nullptr) const override;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  /// By start[s] + end[e], with s ≤ e < s + longest_answer: all spans are looked at. Where there may be no answer and more than one
  /// is asked for, that is among them, however unlikely it is.
  std::vector<std::vector<BestAnswer>> best(const State& state, int64_t count) const override;
  int64_t vocabulary() const override { return 0; }
  int64_t answer_length(int64_t) const override { return 2; }
  int64_t longest_source() const override { return encoder_->longest(); }
  Var word_table() const override { return encoder_->word_table(); }

  /// Scores of the first and the last place, [B,T] of the longest document, with one more slot (at each document's length) for no
  /// answer. What lies beyond is arbitrary.
  struct Pointers {
    Var start, end;
    std::vector<int32_t> lengths;
  };
  Pointers pointers(const data::Source& source, Training* training = nullptr) const;

 private:
  struct Spans;

  Var met(const Encoded& document, const Encoded& question, Training* training) const;
  Var matched(const Var& states, const std::vector<int32_t>& lengths, Training* training) const;
  Var with_slot(const Var& scores, const Var& slot, const std::vector<int32_t>& lengths) const;
  void tell(const Spans& spans, const Tensor& logits) const;

  ReaderOptions options_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Attention> attention_;
  std::unique_ptr<StateLayers> modelling_, last_;
  std::unique_ptr<Attention> self_;
  std::unique_ptr<nn::Linear> self_output_;
  std::unique_ptr<nn::Linear> pointers_, start_, end_;  // of G for both, of M, of M²
  std::unique_ptr<nn::Linear> none_;  // scores of no answer
  nn::Dropout dropout_;
};

}  // namespace attend::models
