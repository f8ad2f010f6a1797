// The recurrent encoder–decoder: words in, words out, with every way of passing the input to the decoder (Cho et al.
// 2014; Sutskever et al. 2014; Bahdanau et al. 2015; Luong et al. 2015).
#pragma once

#include <string>

#include "attend/models/encoder_decoder.h"
#include "attend/models/recurrent_decoder.h"

namespace attend::models {

/// How the decoder gets its input.
struct DecoderInputOptions {
  std::string input = "attention";
  std::string query = "before";  // before: hₜ₋₁ is the query, and the context enters the update; after: hₜ is the query
  bool feeding = false;          // query after: the attentional vector enters the next update
  bool copy = false;             // words may be copied from where attention looks
  bool oracle = false;           // it is told the gold alignment

  template <class Visit>
  void fields(Visit&& visit) {
    visit("input", input,
          "how it gets the input: every_step, first_step, initial_state, bridge, reread, attention",
          bounds::one_of(decoder_inputs()));
    visit("query", query, "before (Bahdanau) or after (Luong) the state's update", bounds::one_of({"before", "after"}));
    visit("feeding", feeding, "input feeding, with the query after the update");
    visit("copy", copy, "words of the source may be copied from where attention looks, those outside the vocabulary too");
    visit("oracle", oracle, kOracleHelp);
  }
};

struct RecurrentModelOptions {
  int64_t source_vocabulary = 0, target_vocabulary = 0, texts = 1;
  int64_t embedding = 256, hidden = 256, layers = 1;
  std::string cell = "gru";
  bool bidirectional = true;
  double dropout = 0, label_smoothing = 0, r_drop = 0;
  DecoderInputOptions decoder;
  AttentionConfig attention{.score = "additive"};
  double coverage_penalty = 0;   // weight of Σ min(a, c)
  double doubly_stochastic = 0;  // weight of Σ (1 − Σ α)²
  ReinforceOptions reinforce;    // for align = sample

  template <class Visit>
  void fields(Visit&& visit) {
    visit("source_vocabulary", source_vocabulary, "number of source words", bounds::count_or_none());
    visit("target_vocabulary", target_vocabulary, "number of target words", bounds::count_or_none());
    visit("texts", texts, kTextsHelp, texts_bounds());
    visit("embedding", embedding, "width of a word", bounds::width());
    visit("hidden", hidden, "width of a state", bounds::width());
    visit("layers", layers, "layers of encoder and decoder", bounds::layers());
    visit("cell", cell, "rnn, gru or lstm", bounds::one_of(nn::cells()));
    visit("bidirectional", bidirectional, "the encoder reads in both directions");
    visit("dropout", dropout, "on words, between layers and before the output", bounds::share());
    visit("label_smoothing", label_smoothing, "share of the target spread over all words", bounds::share());
    visit("r_drop", r_drop, kRDropHelp, bounds::at_least(0));
    visit("decoder", decoder, "");
    visit("attention", attention, "");
    visit("coverage_penalty", coverage_penalty, "weight of the penalty for reading a place again", bounds::at_least(0));
    visit("doubly_stochastic", doubly_stochastic, "weight of the penalty for places not read once",
          bounds::at_least(0));
    visit("reinforce", reinforce, "");
  }
};

/// A RecurrentEncoder and a RecurrentDecoder of the same width and number of layers.
using RecurrentModel = Preset<RecurrentModelOptions>;
EncoderDecoder::Parts parts_of(const RecurrentModelOptions& options, Random& random);

}  // namespace attend::models
