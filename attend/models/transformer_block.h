// The parts of Transformers (Vaswani et al. 2017): tokens with positions, and blocks of attention, with any score and
// align, and feed-forward layers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/models/encoder.h"
#include "attend/models/sharing.h"
#include "attend/models/source_embedding.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct TransformerOptions {
  int64_t source_vocabulary = 0, target_vocabulary = 0, texts = 1;
  int64_t size = 256, heads = 4, hidden = 1024;  // width of a token; of the feed-forward layer inside
  int64_t encoder_layers = 3, decoder_layers = 3;
  std::string norm = "pre";              // before each part (Xiong et al. 2020), after it ("post", the paper's), or "none"
  bool residual = true;                  // what a part reads is added to what it says
  std::string positions = "sinusoidal";  // or "learned", or "none"
  int64_t longest = 1024;                // number of learned positions
  std::string activation = "relu";       // or "gelu"
  std::string tied = "none";             // "output": the decoder's words are its output layer; "all": the source's too
  double dropout = 0.1, label_smoothing = 0.1, r_drop = 0;
  std::string score = "scaled_dot", align = "softmax";
  int64_t window = 0;  // self-attention reaches this far; 0: everywhere
  bool copy = false;   // words may be copied from where the last block looks
  // Not options of this network, but of encoders (EncoderOptions):
  double word_dropout = 0;
  LetterOptions letters;
  int64_t marks = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("source_vocabulary", source_vocabulary, "number of source words", bounds::count_or_none());
    visit("target_vocabulary", target_vocabulary, "number of target words", bounds::count_or_none());
    visit("texts", texts, kTextsHelp, texts_bounds());
    visit("size", size, "width of a token", bounds::width());
    visit("heads", heads, "heads of every attention", bounds::width());
    visit("hidden", hidden, "width inside the feed-forward layers", bounds::width());
    visit("encoder_layers", encoder_layers, "blocks of the encoder", bounds::within(0, 1 << 10));
    visit("decoder_layers", decoder_layers, "blocks of the decoder", bounds::within(0, 1 << 10));
    visit("norm", norm, "layer norm before (pre) or after (post) each part, or none", bounds::one_of({"pre", "post", "none"}));
    visit("residual", residual, "what a part reads is added to what it says; without it a deep network hardly learns");
    visit("positions", positions, "sinusoidal, learned, or none", bounds::one_of({"sinusoidal", "learned", "none"}));
    visit("longest", longest, "number of learned positions", bounds::count_or_none());
    visit("activation", activation, "relu or gelu, in the feed-forward layers", bounds::one_of({"relu", "gelu"}));
    visit("tied", tied, "share embeddings: none, output, all", bounds::one_of({"none", "output", "all"}));
    visit("dropout", dropout, "on tokens, weights, inside and after each part", bounds::share());
    visit("label_smoothing", label_smoothing, "share of the target spread over all words", bounds::share());
    visit("r_drop", r_drop, kRDropHelp, bounds::at_least(0));
    visit("score", score, "of every attention", bounds::one_of(scores()));
    visit("align", align, "of every attention", bounds::one_of(aligns()));
    visit("window", window, "how far self-attention reaches; 0: everywhere", bounds::count_or_none());
    visit("copy", copy,
          "words of the source may be copied from where the first head of the last block looks, those outside the "
          "vocabulary too");
  }
};

/// W₂·f(W₁x + b₁) + b₂, with dropout inside.
class FeedForward {
 public:
  FeedForward(const TransformerOptions& options, Random& random);
  Var operator()(const Var& x, Random* training) const;
  void params(const nn::VisitParams& visit);

 private:
  nn::Linear inner_, outer_;
  nn::Dropout dropout_;
};

/// The options with blocks that are made like these.
TransformerOptions with_blocks(TransformerOptions options, const BlockOptions& blocks);
/// The options; throws Error if one is not among its choices or does not fit another.
TransformerOptions checked(const TransformerOptions& options);

/// What a block reads of its memory, and by which weights its first head does. One head points, so that the others are
/// free to look elsewhere (Gehrmann et al. 2018, section 3).
struct Pointing {
  Var context, weights;  // [N,T,D], [N,T,S]
};

/// Where a stack is in a forward pass.
struct BlockContext {
  Training* training = nullptr;
  std::span<const int32_t> lengths;  // of the stack's own sequences; empty: all of full length
  const Sharing* share = nullptr;    // of the memory; null: each sequence has its own
  Pointing* pointing = nullptr;      // filled in if given
};

/// Self-attention, attention to a memory (decoders that have one), feed-forward; each with its residual and norm, where it has them.
class TransformerBlock {
 public:
  enum class Kind { encoder, decoder, decoder_alone };
  /// `source`: width of the states that a decoder attends to; 0: that of a token.
  TransformerBlock(const TransformerOptions& options, Kind kind, int64_t layer, Random& random, int64_t source = 0);

  /// Whole sequences x [B,T,D]; `memory` for Kind::decoder.
  Var operator()(const Var& x, const AttentionMemory* memory, const BlockContext& context) const;
  /// One position of N hypotheses, x [N,1,D]. Rows that are not `active` leave no trace in the cache.
  Var step(const Var& x, const AttentionMemory* memory, AttentionCache& cache, std::span<const uint8_t> active = {},
           Pointing* pointing = nullptr) const;
  /// A source prepared for this block's attention to it.
  AttentionMemory prepare(const Var& source, std::span<const int32_t> lengths) const;
  /// Of a decoder: its attention to the source.
  Attention& memory() { return *memory_; }
  const Attention& memory() const { return *memory_; }
  void params(const nn::VisitParams& visit);

 private:
  template <class Part>
  Var with_part(const Var& x, size_t index, Random* training, Part&& part) const;

  size_t last_part() const { return memory_ ? 2 : 1; }

  std::string norm_;
  bool residual_;
  nn::Dropout dropout_;
  Attention self_;
  std::unique_ptr<Attention> memory_;
  FeedForward feed_forward_;
  std::vector<nn::LayerNorm> norms_;
};

/// Tokens → vectors: √D·embedding + position, with dropout.
class TokenEmbedding {
 public:
  TokenEmbedding(const TransformerOptions& options, int64_t words, Random& random);
  /// A source, with a look inside its words if the options say so: the vector of the letters then replaces the last
  /// numbers of a word's vector.
  Var operator()(const data::Source& source, Training* training) const;
  /// `of_source`: these are the words that SourceWords shows.
  Var operator()(const Ids& ids, Random* training, bool of_source) const;
  /// One id per row, each at its own position: [N] → [N,1,D].
  Var at(std::span<const int32_t> ids, std::span<const int64_t> positions) const;
  const Var& table() const { return words_.table(); }
  void params(const nn::VisitParams& visit);

 private:
  Var placed(const Var& words, Random* training) const;

  SourceEmbedding words_;
  std::optional<nn::Positions> positions_;
  nn::Dropout dropout_;
  real scale_;
};

}  // namespace attend::models
