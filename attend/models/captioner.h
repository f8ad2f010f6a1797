// The captioner: a decoder that describes an image, looking at one place in it for each word ("Show, attend and tell",
// Xu et al. 2015), by soft weights or by sampled choices.
#pragma once

#include <string>

#include "attend/models/encoder_decoder.h"
#include "attend/models/image_encoder.h"
#include "attend/models/recurrent_decoder.h"

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
  double dropout = 0, label_smoothing = 0, r_drop = 0;
  double doubly_stochastic = 0;
  ReinforceOptions reinforce;  // for align = sample

  template <class Visit>
  void fields(Visit&& visit) {
    visit("target_vocabulary", target_vocabulary, "number of words", bounds::count_or_none());
    visit("encoder", encoder, "");
    visit("embedding", embedding, "width of a word", bounds::width());
    visit("hidden", hidden, "width of a state", bounds::width());
    visit("cell", cell, "rnn, gru or lstm", bounds::one_of(nn::cells()));
    visit("read", read, "attention, or mean: the mean of the cells for every word",
          bounds::one_of({"attention", "mean"}));
    visit("query", query, "the query: state (of the previous step), or state_word (with the previous word)",
          bounds::one_of({"state", "state_word"}));
    visit("attention", attention, "");
    visit("gate", gate, "attention: how much of what was read counts is decided word by word (beta)");
    visit("deep_output", deep_output,
          "words are predicted from the previous word, the state and what was read; otherwise from the state");
    visit("dropout", dropout, "on words and before the output", bounds::share());
    visit("label_smoothing", label_smoothing, "share of the target spread over all words", bounds::share());
    visit("r_drop", r_drop, kRDropHelp, bounds::at_least(0));
    visit("doubly_stochastic", doubly_stochastic, "weight of the penalty for cells not read once", bounds::at_least(0));
    visit("reinforce", reinforce, "");
  }
};

/// Annotations a₁ … a_L of the cells, yₜ the words, E their vectors:
///   h₀ = tanh(W_h·mean(a)), c₀ = tanh(W_c·mean(a));
///   αₜ = align(score(qₜ, a)), qₜ = hₜ₋₁ or [hₜ₋₁; E·yₜ₋₁], βₜ = σ(w·hₜ₋₁ + b), zₜ = βₜ·Σᵢ αₜᵢ aᵢ;
///   hₜ = lstm(E·yₜ₋₁, zₜ, hₜ₋₁);
///   p(yₜ) = softmax(L_o·tanh(E·yₜ₋₁ + L_h·hₜ + L_z·zₜ))      (Xu et al. 2015, eq. 1–7, 9, 13 and section 4.2.1)
using Captioner = Preset<CaptionerOptions>;
EncoderDecoder::Parts parts_of(const CaptionerOptions& options, Random& random);

}  // namespace attend::models
