// The captioner: a decoder that says what it sees, looking at one place of the image for each word ("Show, attend and tell",
// Xu et al. 2015), softly or by choices that are drawn.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/attention/reinforce.h"
#include "attend/models/attention_losses.h"
#include "attend/models/image_encoder.h"
#include "attend/nn/recurrent.h"

namespace attend::models {

struct CaptionerOptions {
  int64_t target_vocabulary = 0;
  ImageEncoderOptions encoder;
  int64_t embedding = 256, hidden = 512;
  std::string cell = "lstm";
  std::string read = "attention";  // or "mean"
  std::string query = "state";     // or "state_word"
  AttentionConfig attention{.score = "additive"};
  bool gate = true, deep_output = true;
  double dropout = 0, label_smoothing = 0;
  double doubly_stochastic = 0;
  ReinforceOptions reinforce;  // for align = sample

  template <class Visit>
  void fields(Visit&& visit) {
    visit("target_vocabulary", target_vocabulary, "number of words");
    visit("encoder", encoder, "");
    visit("embedding", embedding, "width of a word");
    visit("hidden", hidden, "width of a state");
    visit("cell", cell, "rnn, gru or lstm");
    visit("read", read, "attention, or mean: the mean of the cells for every word");
    visit("query", query, "who asks: state (of the step before), or state_word (and the word that was just said)");
    visit("attention", attention, "");
    visit("gate", gate, "attention: how much of what was read counts is decided word by word (beta)");
    visit("deep_output", deep_output,
          "words are told from the word before, the state and what was read; else from the state");
    visit("dropout", dropout, "on words and before the output");
    visit("label_smoothing", label_smoothing, "share of the target spread over all words");
    visit("doubly_stochastic", doubly_stochastic, "weight of the penalty for cells not read once");
    visit("reinforce", reinforce, "");
  }
};

/// Annotations a₁ … a_L of the cells, yₜ the words, E their vectors:
///   h₀ = tanh(W_h·mean(a)), c₀ = tanh(W_c·mean(a));
///   αₜ = align(score(qₜ, a)), qₜ = hₜ₋₁ or [hₜ₋₁; E·yₜ₋₁], βₜ = σ(w·hₜ₋₁ + b), zₜ = βₜ·Σᵢ αₜᵢ aᵢ;  hₜ = lstm(E·yₜ₋₁, zₜ, hₜ₋₁);
///   p(yₜ) = softmax(L_o·tanh(E·yₜ₋₁ + L_h·hₜ + L_z·zₜ))      (Xu et al. 2015, eq. 1–7, 9, 13 and section 4.2.1)
class Captioner : public Model {
 public:
  Captioner(const CaptionerOptions& options, Random& random);
  ~Captioner() override;

  void params(const nn::VisitParams& visit) override;
  /// Targets of one image are read together where the batch says which they are (Batch::image_of).
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Sequences& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return options_.target_vocabulary; }
  /// Whether words look at places of their own; else every word reads the mean.
  bool attends() const { return attention_ != nullptr; }
  /// Trained with one align, used with another.
  void set_align(const std::string& name);
  /// Logits [T,N,V] of each word of the targets and of their ends, under teacher forcing.
  Var logits(const data::Batch& batch) const;

 private:
  struct Source;
  struct Sharing;
  struct Memory;
  struct DecoderState;
  struct Step;
  struct Trail;
  struct Prediction;

  Source encode(const data::Sequences& source, std::span<const int32_t> image_of, Training* training) const;
  DecoderState first_state(const Source& source) const;
  Step attend_to(const Source& source, const Var& word, const DecoderState& state, const AttentionStep& how) const;
  Step step(const Var& word, const Var& word_gates, const Source& source, DecoderState& state,
            const AttentionStep& how) const;
  Trail step_by_step(const Var& words, const Var& word_gates, const Source& source, Training* training) const;
  Trail all_steps(const Var& word_gates, const Source& source) const;
  Var readout(const Var& states, const Var& contexts, const Var& words, Random* training) const;
  Prediction predict(const Ids& inputs, const Source& source, Training* training) const;
  AttentionLosses losses() const;
  bool shares_memory() const;

  CaptionerOptions options_;
  std::unique_ptr<ImageEncoder> encoder_;
  nn::Embedding words_;
  Cell cell_;
  std::unique_ptr<Attention> attention_;  // none: every word reads the mean
  int64_t context_ = 0;                   // width of what each word reads
  // The decoder: W·word + b for all steps at once, C·context and U·state step by step.
  Var word_weight_, bias_, context_weight_, state_weight_, candidate_bias_;
  std::vector<nn::Linear> initial_;  // of h, and of the lstm's c
  std::unique_ptr<nn::Linear> gate_, state_output_, context_output_, output_;
  nn::Dropout dropout_;
  std::unique_ptr<Reinforce> reinforce_;
};

}  // namespace attend::models
