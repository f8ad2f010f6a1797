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
  SequenceEncoderOptions text;  // and of sound
  ImageEncoderOptions image;    // its kind, positions and dropout are those of `text`

  template <class Visit>
  void fields(Visit&& visit) {
    const auto others = [&]<class Field>(const char* name, Field& field, const char* help, const Bounds& bounds = {}) {
      constexpr std::array<std::string_view, 4> kShared{"kind", "positions", "dropout", "vocabulary"};
      if (std::ranges::find(kShared, name) == kShared.end()) visit(name, field, help, bounds);
    };
    visit("kind", text.kind,
          "recurrent, transformer, intra, none (what is read, as it is), convolutional, dense or listener (of sound)",
          bounds::one_of(encoders()));
    visit("positions", text.positions,
          "transformer, none, convolutional: how positions are marked: sinusoidal (words only), learned or none; auto: "
          "sinusoidal for a transformer, otherwise none", bounds::one_of({"auto", "sinusoidal", "learned", "none"}));
    visit("dropout", text.dropout, "on words or cells, and between layers", bounds::share());
    text.fields(others);
    image.fields(others);
  }
};

/// Width, layers and dropout are the recurrent decoder's, and a transformer's too.
struct DecoderOptions {
  std::string kind = "recurrent";
  int64_t embedding = 0;
  RecurrentDecoderOptions recurrent{.cell = "lstm"};
  int64_t heads = 4, hidden = 1024;  // transformer
  std::string positions = "sinusoidal", tied = "none";
  int64_t longest = 1024;
  BlockOptions blocks;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("kind", kind, "recurrent or transformer", bounds::one_of({"recurrent", "transformer"}));
    visit("size", recurrent.hidden, "width of a state, or of a transformer's token", bounds::width());
    visit("layers", recurrent.layers, "number of layers", bounds::layers());
    visit("dropout", recurrent.dropout, "on words, between layers and before the output", bounds::share());
    visit("embedding", embedding, "recurrent: width of a word; 0: that of a state", bounds::width_or_none());
    recurrent.fields(visit);
    visit("heads", heads, "transformer: heads of every attention", bounds::width());
    visit("hidden", hidden, "transformer: width inside the feed-forward layers", bounds::width());
    visit("positions", positions, "transformer: sinusoidal, learned, or none",
          bounds::one_of({"sinusoidal", "learned", "none"}));
    visit("longest", longest, "transformer: number of learned positions", bounds::count_or_none());
    visit("tied", tied, "transformer: share embeddings: none, output, all (with a transformer's encoder)",
          bounds::one_of({"none", "output", "all"}));
    visit("blocks", blocks, "");
  }
};

struct EncoderDecoderOptions {
  int64_t source_vocabulary = 0, target_vocabulary = 0, texts = 1;
  AnyEncoderOptions encoder;
  DecoderOptions decoder;
  double label_smoothing = 0, r_drop = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    RecurrentDecoderOptions& recurrent = decoder.recurrent;
    visit("source_vocabulary", source_vocabulary, "number of source words; 0: it reads images or sound",
          bounds::count_or_none());
    visit("target_vocabulary", target_vocabulary, "number of target words", bounds::count_or_none());
    visit("texts", texts, kTextsHelp, texts_bounds());
    visit("encoder", encoder, "");
    visit("decoder", decoder, "");
    visit("attention", recurrent.attention, "");
    visit("coverage_penalty", recurrent.coverage_penalty, "recurrent: weight of the penalty for reading a place again",
          bounds::at_least(0));
    visit("doubly_stochastic", recurrent.doubly_stochastic, "recurrent: weight of the penalty for places not read once",
          bounds::at_least(0));
    visit("label_smoothing", label_smoothing, "share of the target spread over all words", bounds::share());
    visit("r_drop", r_drop, kRDropHelp, bounds::at_least(0));
    visit("reinforce", recurrent.reinforce, "");
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
