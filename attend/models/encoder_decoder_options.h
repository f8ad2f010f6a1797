// Any encoder with any decoder, chosen by name: the options of the network `encoder_decoder`.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "attend/models/encoder_decoder.h"
#include "attend/models/image_encoder.h"
#include "attend/models/recurrent_decoder.h"

namespace attend::models {

/// Options of every row of the table of encoders, whatever it reads.
struct AnyEncoderOptions {
  EncoderOptions text;
  ImageEncoderOptions image;  // its kind, positions and dropout are those of `text`

  template <class Visit>
  void fields(Visit&& visit) {
    const auto others = [&]<class Field>(const char* name, Field& field, const char* help) {
      constexpr std::array<std::string_view, 4> kShared{"kind", "positions", "dropout", "vocabulary"};
      if (std::ranges::find(kShared, name) == kShared.end()) visit(name, field, help);
    };
    visit("kind", text.kind, "recurrent, transformer, intra, none (what is read, as it is), convolutional or dense");
    visit("positions", text.positions,
          "transformer, none, convolutional: how positions are marked: sinusoidal (words only), learned or none; auto: "
          "sinusoidal for a transformer, otherwise none");
    visit("dropout", text.dropout, "on words or cells, and between layers");
    text.fields(others);
    image.fields(others);
  }
};

struct DecoderOptions {
  std::string kind = "recurrent";
  int64_t size = 256, layers = 1;
  int64_t embedding = 0;  // recurrent
  std::string cell = "lstm";
  std::string input = "attention", start = "auto", query = "before", asks = "state", readout = "joint";
  bool feeding = false, gate = false;
  int64_t heads = 4, hidden = 1024;  // transformer
  std::string positions = "sinusoidal";
  int64_t longest = 1024;
  std::string tied = "none";
  double dropout = 0;
  BlockOptions blocks;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("kind", kind, "recurrent or transformer");
    visit("size", size, "width of a state, or of a transformer's token");
    visit("layers", layers, "number of layers");
    visit("embedding", embedding, "recurrent: width of a word; 0: that of a state");
    visit("cell", cell, "recurrent: rnn, gru or lstm");
    visit("input", input,
          "recurrent: how it gets the input: every_step, first_step, initial_state, bridge, reread, attention");
    visit("start", start,
          "recurrent: its first state: zeros, last (the encoder's), bridge, bridge_cells; auto: depends on the input");
    visit("query", query, "recurrent: attention before (Bahdanau) or after (Luong) the state's update");
    visit("asks", asks, "recurrent: the query: state, or state_word (with the previous word)");
    visit("feeding", feeding, "recurrent: input feeding, with the query after the update");
    visit("gate", gate, "recurrent: how much of what was read counts is decided word by word (beta)");
    visit("readout", readout,
          "recurrent: what the next word is predicted from: joint (state, what was read and the word), deep (the same "
          "through tanh), or only the state");
    visit("heads", heads, "transformer: heads of every attention");
    visit("hidden", hidden, "transformer: width inside the feed-forward layers");
    visit("positions", positions, "transformer: sinusoidal, learned, or none");
    visit("longest", longest, "transformer: number of learned positions");
    visit("tied", tied, "transformer: share embeddings: none, output, all (with a transformer's encoder)");
    visit("dropout", dropout, "on words, between layers and before the output");
    visit("blocks", blocks, "");
  }
};

struct EncoderDecoderOptions {
  int64_t source_vocabulary = 0, target_vocabulary = 0;
  AnyEncoderOptions encoder;
  DecoderOptions decoder;
  AttentionConfig attention{.score = "additive"};
  double coverage_penalty = 0, doubly_stochastic = 0;
  double label_smoothing = 0;
  ReinforceOptions reinforce;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("source_vocabulary", source_vocabulary, "number of source words; 0: it reads images");
    visit("target_vocabulary", target_vocabulary, "number of target words");
    visit("encoder", encoder, "");
    visit("decoder", decoder, "");
    visit("attention", attention, "");
    visit("coverage_penalty", coverage_penalty, "recurrent: weight of the penalty for reading a place again");
    visit("doubly_stochastic", doubly_stochastic, "recurrent: weight of the penalty for places not read once");
    visit("label_smoothing", label_smoothing, "share of the target spread over all words");
    visit("reinforce", reinforce, "");
  }
};

struct DecoderRow {
  std::string_view name, formula, paper;
  std::unique_ptr<Decoder> (*make)(const EncoderDecoderOptions& options, const Encoder& encoder, Random& random);
};
std::span<const DecoderRow> decoders();

/// The network with these options.
EncoderDecoder::Parts parts_of(const EncoderDecoderOptions& options, Random& random);

}  // namespace attend::models
