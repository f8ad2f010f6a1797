// The recurrent decoder, with every way of passing it its input: a fixed vector, rereading, or attention (Cho et al.
// 2014; Sutskever et al. 2014; Bahdanau et al. 2015; Luong et al. 2015; Xu et al. 2015).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/attention/reinforce.h"
#include "attend/models/decoder.h"
#include "attend/models/sharing.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct DecoderInputRow {
  std::string_view name, formula, paper;
  std::string_view start;  ///< the first state, if none is chosen
};
/// How a decoder may get its input.
std::span<const DecoderInputRow> decoder_inputs();

struct StartRow {
  std::string_view name, formula;
};
/// What its first state may be.
std::span<const StartRow> starts();

struct ReadoutRow {
  std::string_view name, formula, paper;
};
/// What the next word may be predicted from.
std::span<const ReadoutRow> readouts();

constexpr const char* kOracleHelp =
    "attention does not compute its weights but is told the gold word alignment of each example; answers without one "
    "cannot be given";

struct RecurrentDecoderOptions {
  int64_t hidden = 256, layers = 1;
  std::string cell = "gru";
  std::string input = "attention";
  std::string start = "auto";    // the first state: as in the row of `input`, or another
  std::string query = "before";  // before: hₜ₋₁ is the query, and the context enters the update; after: hₜ is the query
  std::string asks = "state";    // or "state_word": together with the previous word
  bool feeding = false;          // query after: the attentional vector enters the next update
  bool gate = false;             // βₜ = σ(w·h + b) times what attention reads
  std::string readout = "joint";
  bool copy = false;             // words may be copied from where attention looks
  bool oracle = false;           // attention is told the gold alignment (Encoded::given)
  AttentionConfig attention{.score = "additive"};
  double dropout = 0;
  double coverage_penalty = 0;      // weight of Σ min(a, c)
  double doubly_stochastic = 0;     // weight of Σ (1 − Σ α)²
  ReinforceOptions reinforce = {};  // for align = sample

  /// Those that say how it is built; its sizes, its attention and its penalties are named by the networks that have it.
  template <class Visit>
  void fields(Visit&& visit) {
    visit("cell", cell, "recurrent: rnn, gru or lstm", bounds::one_of(nn::cells()));
    visit("input", input, "recurrent: every_step, first_step, initial_state, bridge, reread or attention",
          bounds::one_of(decoder_inputs()));
    visit("start", start, "recurrent: its first state: zeros, last, bridge, bridge_cells; auto: as its input has it",
          bounds::one_of(starts(), {"auto"}));
    visit("query", query, "recurrent: attention is asked before (Bahdanau) or after (Luong) the state's update",
          bounds::one_of({"before", "after"}));
    visit("asks", asks, "recurrent: who asks: state, or state_word (and the word that was just said)",
          bounds::one_of({"state", "state_word"}));
    visit("feeding", feeding, "recurrent: input feeding, with the query after the update");
    visit("gate", gate, "recurrent: how much of what was read counts is decided word by word (beta)");
    visit("readout", readout, "recurrent: what words are told from: joint (all), deep (all, by tanh) or state (alone)",
          bounds::one_of(readouts()));
    visit("copy", copy, "words of the source may be copied from where attention looks, those outside the vocabulary too");
    visit("oracle", oracle, kOracleHelp);
  }
};

/// E·yₜ₋₁ is the previous word, cₜ what a step sees of the source; layers are stacked:
///   query before: cₜ = read(hₜ₋₁), hₜ = f(E·yₜ₋₁, cₜ, hₜ₋₁);
///   query after: hₜ = f(E·yₜ₋₁, [h̃ₜ₋₁,] hₜ₋₁), cₜ = read(hₜ), and h̃ₜ = tanh(W[cₜ; hₜ]) is read out in its place;
///   p(yₜ) = softmax(readout), or a mixture of that with what attention points at (copying.h; the mean over its heads).
/// Answers to one source share one memory if nothing in the attention depends on a query's position. Where weights are given
/// (Encoded::given), attention reads with these.
class RecurrentDecoder : public Decoder {
 public:
  /// `words`: the vectors of its words. `source`: widths of what it will read.
  RecurrentDecoder(const RecurrentDecoderOptions& options, nn::Embedding words, const EncodedSizes& source,
                   Random& random);
  ~RecurrentDecoder() override;

  void params(const nn::VisitParams& visit) override;
  int64_t vocabulary() const override { return words_.table().dim(0); }
  bool by_time() const override { return true; }
  std::unique_ptr<Memory> prepare(const Encoded& encoded, std::span<const int32_t> source_of) const override;
  Prediction predict(const Ids& inputs, const Memory& memory, Training* training) const override;
  Var further_losses(const Prediction& said, const Memory& memory, const Ids& targets,
                     std::span<const int32_t> target_lengths) const override;
  void require_trainable() const override;
  std::unique_ptr<State> begin(const Encoded& encoded) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  bool attends() const override { return attention_ != nullptr; }
  bool copies() const override { return copying_ != nullptr; }
  void set_align(const std::string& name) override;
  int64_t longest_source() const override;

 private:
  enum class InputKind { every_step, first_step, initial_state, bridge, reread, attention };
  enum class Start { zeros, last, bridge, bridge_cells };
  enum class Readout { joint, deep, state };
  struct Source;
  struct DecoderState;
  struct Hypotheses;
  struct Step;
  struct Trail;

  void make_reader(const EncodedSizes& source, Random& random);
  void make_update(Random& random);
  void make_start(const EncodedSizes& source, Random& random);
  void make_readout(Random& random);

  std::unique_ptr<Source> read_source(const Encoded& encoded, std::span<const int32_t> source_of) const;
  DecoderState first_state(const Source& source) const;
  Var reread(const Source& source, const Var& state) const;
  Var query(const Var& h, const Var& word) const;
  void attend_to(const Source& source, const Var& h, const Var& word, DecoderState& state, const AttentionStep& how,
                 Step& result) const;
  Step step(const Var& word, const Var& word_gates, const Source& source, DecoderState& state,
            const AttentionStep& how) const;
  bool needs_steps() const;
  Trail step_by_step(const Var& words, const Var& word_gates, const Source& source, Training* training) const;
  void attend_at_once(const Var& words, const Source& source, Training* training, Trail& trail) const;
  Trail all_steps(const Var& words, const Var& word_gates, const Source& source, Training* training) const;
  Var readout(const Var& states, const Var& contexts, const Var& words, Random* training) const;
  bool reads_out_contexts() const;
  bool keeps_contexts() const { return reads_out_contexts() || copying_; }
  AttentionLosses losses() const;

  RecurrentDecoderOptions options_;
  InputKind input_;
  Start start_ = Start::zeros;
  Readout readout_;
  bool after_, asks_word_;
  Cell cell_;
  nn::Embedding words_;
  nn::Dropout dropout_;
  int64_t context_ = 0;  // width of what each step sees of the source
  std::unique_ptr<Attention> attention_;
  std::unique_ptr<nn::Linear> gate_;
  std::unique_ptr<Reinforce> reinforce_;
  std::unique_ptr<nn::Recurrent> rereader_;
  // The first layer: W·word + b for all steps at once, and C·context, F·feed, U·state step by step.
  Var word_weight_, bias_, context_weight_, feed_weight_, state_weight_, candidate_bias_;
  std::vector<nn::RecurrentCell> upper_;
  std::vector<nn::Linear> bridge_;       // hidden state of each layer, then the lstm's cells
  std::unique_ptr<nn::Linear> combine_;  // query after: tanh(W[context; state])
  std::unique_ptr<nn::Linear> state_output_, context_output_;  // deep
  std::unique_ptr<nn::Linear> output_;
  std::unique_ptr<CopyGate> copying_;
};

}  // namespace attend::models
