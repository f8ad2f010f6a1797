// The Transformer (Vaswani et al. 2017): encoder, decoder, and both together; blocks of attention, over any score and
// align, and feed-forward layers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/models/model.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct TransformerOptions {
  int64_t source_vocabulary = 0, target_vocabulary = 0;
  int64_t size = 256, heads = 4, hidden = 1024;  // width of a token; of the feed-forward layer inside
  int64_t encoder_layers = 3, decoder_layers = 3;
  std::string norm = "pre";              // before each part (Xiong et al. 2020), or after it ("post", the paper's)
  std::string positions = "sinusoidal";  // or "learned"
  int64_t longest = 1024;                // most positions that are learned
  std::string activation = "relu";       // or "gelu"
  std::string tied = "none";             // "output": the decoder's words are its output layer; "all": the source's too
  double dropout = 0.1, label_smoothing = 0.1;
  std::string score = "scaled_dot", align = "softmax";
  int64_t window = 0;  // self-attention reaches this far; 0: everywhere

  template <class Visit>
  void fields(Visit&& visit) {
    visit("source_vocabulary", source_vocabulary, "number of source words");
    visit("target_vocabulary", target_vocabulary, "number of target words");
    visit("size", size, "width of a token");
    visit("heads", heads, "heads of every attention");
    visit("hidden", hidden, "width inside the feed-forward layers");
    visit("encoder_layers", encoder_layers, "blocks of the encoder");
    visit("decoder_layers", decoder_layers, "blocks of the decoder");
    visit("norm", norm, "layer norm before (pre) or after (post) each part");
    visit("positions", positions, "sinusoidal or learned");
    visit("longest", longest, "most positions that are learned");
    visit("activation", activation, "relu or gelu, in the feed-forward layers");
    visit("tied", tied, "share embeddings: none, output, all");
    visit("dropout", dropout, "on tokens, weights, inside and after each part");
    visit("label_smoothing", label_smoothing, "share of the target spread over all words");
    visit("score", score, "of every attention");
    visit("align", align, "of every attention");
    visit("window", window, "how far self-attention reaches; 0: everywhere");
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

/// Where a stack is in a forward pass.
struct BlockContext {
  Training* training = nullptr;
  std::span<const int32_t> lengths;  // of the stack's own sequences; empty: all of full length
};

/// Self-attention, attention to a memory (decoders that have one), feed-forward; each with its residual and norm.
class TransformerBlock {
 public:
  enum class Kind { encoder, decoder, decoder_alone };
  TransformerBlock(const TransformerOptions& options, Kind kind, int64_t layer, Random& random);

  /// Whole sequences x [B,T,D]; `memory` for Kind::decoder.
  Var operator()(const Var& x, const AttentionMemory* memory, const BlockContext& context) const;
  /// One position of N hypotheses, x [N,1,D]. Rows that are not `active` leave no trace in the cache.
  Var step(const Var& x, const AttentionMemory* memory, AttentionCache& cache,
           std::span<const uint8_t> active = {}) const;
  /// A source made ready for this block's attention to it.
  AttentionMemory prepare(const Var& source, std::span<const int32_t> lengths) const;
  void params(const nn::VisitParams& visit);

 private:
  template <class Part>
  Var residual(const Var& x, const nn::LayerNorm& norm, Random* training, Part&& part) const;

  bool pre_;
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
  /// `of_source`: they are what SourceWords shows.
  Var operator()(const Ids& ids, Random* training, bool of_source) const;
  /// One id per row, each at a position of its own: [N] → [N,1,D].
  Var at(std::span<const int32_t> ids, std::span<const int64_t> positions) const;
  const Var& table() const { return words_.table(); }
  void params(const nn::VisitParams& visit);

 private:
  nn::Embedding words_;
  nn::Positions positions_;
  nn::Dropout dropout_;
  real scale_;
};

/// A stack of encoder blocks over tokens: ids [B,T] → [B,T,D].
class TransformerEncoder {
 public:
  TransformerEncoder(const TransformerOptions& options, Random& random);
  Var operator()(const data::Sequences& source, Training* training) const;
  const TokenEmbedding& words() const { return words_; }
  void params(const nn::VisitParams& visit);

 private:
  TokenEmbedding words_;
  std::vector<TransformerBlock> blocks_;
  std::unique_ptr<nn::LayerNorm> norm_;  // after the last block, where norms come before
};

/// A stack of decoder blocks with its words and output layer, with or without a source to attend to.
class TransformerDecoder {
 public:
  TransformerDecoder(const TransformerOptions& options, bool has_source, const TokenEmbedding* source_words,
                     Random& random);
  std::vector<AttentionMemory> prepare(const Var& source, std::span<const int32_t> lengths) const;
  /// ids [B,T] → logits [B,T,V].
  Var operator()(const Ids& ids, const std::vector<AttentionMemory>& memories, const BlockContext& context) const;
  struct Caches {
    std::vector<AttentionCache> layers;
    std::vector<AttentionMemory> memories;
    std::vector<int64_t> positions;  // of each hypothesis's next token
    void take(std::span<const int32_t> rows);
  };
  Caches begin(std::vector<AttentionMemory> memories, int64_t rows) const;
  /// One more id for every hypothesis → logits [N,V]. Rows that are not `active` stay as they were, their logits are void.
  Tensor step(Caches& caches, std::span<const int32_t> ids, std::span<const uint8_t> active = {}) const;
  int64_t vocabulary() const { return vocabulary_; }
  void params(const nn::VisitParams& visit);

 private:
  const TokenEmbedding& words() const { return own_words_ ? *own_words_ : *shared_words_; }
  Var output(const Var& x) const;

  int64_t vocabulary_;
  std::unique_ptr<TokenEmbedding> own_words_;
  const TokenEmbedding* shared_words_;
  std::vector<TransformerBlock> blocks_;
  std::unique_ptr<nn::LayerNorm> norm_;
  Var output_weight_, output_bias_;  // the weight is undefined where it is the words'
};

/// Encoder and decoder: translation.
class Transformer : public Model {
 public:
  Transformer(const TransformerOptions& options, Random& random);
  /// The decoder may point at the encoder's words.
  Transformer(const Transformer&) = delete;
  Transformer& operator=(const Transformer&) = delete;
  void params(const nn::VisitParams& visit) override;
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Sequences& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return decoder_.vocabulary(); }

 private:
  TransformerOptions options_;
  TransformerEncoder encoder_;
  TransformerDecoder decoder_;
};

/// The decoder alone: it reads source, kBegin and target as one sequence and is scored on the target (Radford et al. 2018;
/// Liu et al. 2018). The source may be empty: a language model.
class TransformerLanguageModel : public Model {
 public:
  TransformerLanguageModel(const TransformerOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override { decoder_.params(visit); }
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Sequences& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return decoder_.vocabulary(); }

 private:
  TransformerOptions options_;
  TransformerDecoder decoder_;
};

}  // namespace attend::models
