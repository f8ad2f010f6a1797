// The Transformer (Vaswani et al. 2017): encoder, decoder, both together, and the decoder alone.
#pragma once

#include <memory>
#include <vector>

#include "attend/models/decoder.h"
#include "attend/models/encoder_decoder.h"
#include "attend/models/transformer_block.h"

namespace attend::models {

/// A stack of encoder blocks over tokens: ids [B,T] → states [B,T,D]. The summary is their mean.
class TransformerEncoder : public Encoder {
 public:
  TransformerEncoder(const TransformerOptions& options, Random& random);
  static std::unique_ptr<Encoder> make(const EncoderOptions& options, Random& random);

  Encoded operator()(const data::Source& source, Training* training) const override;
  EncodedSizes sizes() const override { return {.states = size_}; }
  void params(const nn::VisitParams& visit) override;
  int64_t longest() const override { return longest_; }
  Var word_table() const override { return words_.table(); }
  const TokenEmbedding* tokens() const override { return &words_; }

 private:
  int64_t size_, longest_;
  TokenEmbedding words_;
  std::vector<TransformerBlock> blocks_;
  std::unique_ptr<nn::LayerNorm> norm_;  // after the last block, for pre-norm
};

/// A stack of decoder blocks with its words and output layer, with or without a source to attend to.
class TransformerDecoder : public Decoder {
 public:
  /// `source`: width of the states that it attends to; 0: it has no source. `source_words` are shared if the options
  /// say so, and must outlive it.
  TransformerDecoder(const TransformerOptions& options, int64_t source, const TokenEmbedding* source_words,
                     Random& random);

  void params(const nn::VisitParams& visit) override;
  int64_t vocabulary() const override { return vocabulary_; }
  bool by_time() const override { return false; }
  std::unique_ptr<Memory> prepare(const Encoded& encoded, std::span<const int32_t> source_of) const override;
  Prediction predict(const Ids& inputs, const Memory& memory, Training* training) const override;
  std::unique_ptr<State> begin(const Encoded& encoded) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  bool attends() const override { return source_; }
  bool copies() const override { return copying_ != nullptr; }
  void set_align(const std::string& name) override;
  /// A key and a value of each token in each block.
  int64_t hypothesis_numbers(int64_t length) const override;
  int64_t longest_source() const override;

  Var word_table() const { return words().table(); }
  /// Without a source: logits [B,T,V] of what follows each of ids [B,T].
  Var alone(const Ids& ids, Training* training) const;
  /// A state of `rows` answers that have read nothing.
  std::unique_ptr<State> begin_alone(int64_t rows) const;
  /// One more id for every hypothesis → logits [N,V]. Rows that are not `active` stay as they were; their logits are
  /// meaningless.
  Tensor step(State& state, std::span<const int32_t> ids, std::span<const uint8_t> active) const;

 private:
  struct Memories;
  struct Caches;

  const TokenEmbedding& words() const { return own_words_ ? *own_words_ : *shared_words_; }
  Var top(const Var& words, const std::vector<AttentionMemory>& memories, BlockContext context) const;
  Var output(const Var& top) const;

  bool source_;
  int64_t vocabulary_;
  std::unique_ptr<TokenEmbedding> own_words_;
  const TokenEmbedding* shared_words_ = nullptr;
  std::vector<TransformerBlock> blocks_;
  std::unique_ptr<nn::LayerNorm> norm_;
  Var output_weight_, output_bias_;  // the weight is undefined if it is the words' table
  std::unique_ptr<CopyGate> copying_;
};

/// Encoder and decoder: translation.
using Transformer = Preset<TransformerOptions>;
EncoderDecoder::Parts parts_of(const TransformerOptions& options, Random& random);

/// The decoder alone: it reads source, kBegin and target as one sequence and is scored on the target (Radford et al.
/// 2018; Liu et al. 2018). The source may be empty: a language model.
class TransformerLanguageModel : public Model {
 public:
  TransformerLanguageModel(const TransformerOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override { decoder_.params(visit); }
  Var loss(const data::Batch& batch, Training* training) const override;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return decoder_.vocabulary(); }
  int64_t hypothesis_numbers(int64_t length) const override { return decoder_.hypothesis_numbers(length); }
  int64_t longest_source() const override;
  Var word_table() const override;

 private:
  data::Sequences words_of(const data::Source& source) const;

  TransformerOptions options_;
  TransformerDecoder decoder_;
};

}  // namespace attend::models
