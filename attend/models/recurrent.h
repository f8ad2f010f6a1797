// The recurrent encoder–decoder, with every way of telling the decoder of its input: a fixed vector, reading again, or
// attention (Cho et al. 2014; Sutskever et al. 2014; Bahdanau et al. 2015; Luong et al. 2015).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/attention/reinforce.h"
#include "attend/models/attention_losses.h"
#include "attend/models/model.h"
#include "attend/nn/recurrent.h"

namespace attend::models {

struct DecoderInputRow {
  std::string_view name, formula, paper;
};
/// How a decoder may be told of its input.
std::span<const DecoderInputRow> decoder_inputs();

struct RecurrentDecoderOptions {
  std::string input = "attention";
  std::string query = "before";  // before: hₜ₋₁ asks, and the answer enters the update; after: hₜ asks
  bool feeding = false;          // query after: the attentional vector enters the next update

  template <class Visit>
  void fields(Visit&& visit) {
    visit("input", input,
          "how it is told of the input: every_step, first_step, initial_state, bridge, reread, attention");
    visit("query", query, "before (Bahdanau) or after (Luong) the state's update");
    visit("feeding", feeding, "input feeding, with the query after the update");
  }
};

struct RecurrentModelOptions {
  int64_t source_vocabulary = 0, target_vocabulary = 0;
  int64_t embedding = 256, hidden = 256, layers = 1;
  std::string cell = "gru";
  bool bidirectional = true;
  double dropout = 0, label_smoothing = 0;
  RecurrentDecoderOptions decoder;
  AttentionConfig attention{.score = "additive"};
  double coverage_penalty = 0;   // weight of Σ min(a, c)
  double doubly_stochastic = 0;  // weight of Σ (1 − Σ α)²
  ReinforceOptions reinforce;    // for align = sample

  template <class Visit>
  void fields(Visit&& visit) {
    visit("source_vocabulary", source_vocabulary, "number of source words");
    visit("target_vocabulary", target_vocabulary, "number of target words");
    visit("embedding", embedding, "width of a word");
    visit("hidden", hidden, "width of a state");
    visit("layers", layers, "layers of encoder and decoder");
    visit("cell", cell, "rnn, gru or lstm");
    visit("bidirectional", bidirectional, "the encoder reads both ways");
    visit("dropout", dropout, "on words, between layers and before the output");
    visit("label_smoothing", label_smoothing, "share of the target spread over all words");
    visit("decoder", decoder, "");
    visit("attention", attention, "");
    visit("coverage_penalty", coverage_penalty, "weight of the penalty for reading a place again");
    visit("doubly_stochastic", doubly_stochastic, "weight of the penalty for places not read once");
    visit("reinforce", reinforce, "");
  }
};

class RecurrentModel : public Model {
 public:
  RecurrentModel(const RecurrentModelOptions& options, Random& random);
  ~RecurrentModel() override;

  void params(const nn::VisitParams& visit) override;
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Sequences& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return options_.target_vocabulary; }
  /// Trained with one align, used with another.
  void set_align(const std::string& name);

 private:
  struct Source;
  struct Memory;
  struct DecoderState;
  struct Step;
  struct Trail;
  struct Prediction;

  enum class Told { every_step, first_step, initial_state, bridge, reread, attention };

  Source encode(const data::Sequences& source, Random* training) const;
  DecoderState first_state(const Source& source) const;
  Var reread(const Source& source, const Var& state) const;
  Step step(const Var& word_gates, const Source& source, DecoderState& state, const AttentionStep& how) const;
  Trail all_steps(const Var& word_gates, const Source& source, DecoderState state, Training* training) const;
  Trail step_by_step(const Var& word_gates, const Source& source, DecoderState state, Training* training) const;
  bool needs_steps() const;
  Prediction predict(const Ids& inputs, const Source& source, Training* training) const;
  Var readout(const Var& states, const Var& contexts, const Var& words, Random* training) const;
  AttentionLosses losses() const;
  Var dropped(const Var& x, Random* training) const;

  RecurrentModelOptions options_;
  Told told_;
  bool after_, feeding_;
  nn::Embedding source_words_, target_words_;
  nn::Recurrent encoder_;
  int64_t summary_ = 0, context_ = 0;  // width of the encoder's last states; of what each step is told
  // The decoder's first layer: W·word + b for all steps at once, and C·context, U·state step by step.
  Var word_weight_, bias_, context_weight_, feed_weight_, state_weight_, candidate_bias_;
  Cell cell_;
  std::vector<nn::RecurrentCell> upper_;
  std::vector<nn::Linear> bridge_;  // hidden state of each layer, then the lstm's cells
  std::unique_ptr<Attention> attention_;
  std::unique_ptr<nn::Recurrent> rereader_;
  std::unique_ptr<nn::Linear> combine_;  // query after: tanh(W[context; state])
  std::unique_ptr<nn::Linear> output_;
  std::unique_ptr<Reinforce> reinforce_;
};

}  // namespace attend::models
