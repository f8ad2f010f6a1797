#include "attend/models/transformer.h"

#include <algorithm>
#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"
#include "attend/models/source_words.h"
#include "attend/nn/initial.h"

namespace attend::models {
namespace {

/// One of the known words of an option.
std::string one_of(const char* option, std::initializer_list<std::string_view> known, const std::string& value) {
  const std::vector<std::string_view> menu(known);
  if (std::ranges::find(menu, value) == menu.end()) refuse_name(option, menu, value);
  return value;
}

TransformerOptions checked(const TransformerOptions& o) {
  one_of("norm", {"pre", "post"}, o.norm);
  one_of("positions", {"sinusoidal", "learned"}, o.positions);
  one_of("activation", {"relu", "gelu"}, o.activation);
  one_of("tied", {"none", "output", "all"}, o.tied);
  require_size("size", o.size);
  require_size("hidden", o.hidden);
  require(o.heads >= 1 && o.size % o.heads == 0, "heads: a divisor of size ", o.size, " is wanted, got ", o.heads);
  require(o.window >= 0, "window: at least 0 is wanted, got ", o.window);
  return o;
}

AttentionConfig attention_config(const TransformerOptions& o, const std::string& window) {
  return {.query = o.size,
          .key = o.size,
          .score = o.score,
          .window = window,
          .align = o.align,
          .query_projection = "linear",
          .key_projection = "linear",
          .value_projection = "linear",
          .output_projection = true,
          .heads = o.heads,
          .dropout = o.dropout,
          .longest = o.longest,
          .width = window == "none" ? 0 : o.window};
}

std::string self_window(const TransformerOptions& o, TransformerBlock::Kind kind) {
  if (kind != TransformerBlock::Kind::encoder) return "causal";
  return o.window > 0 ? "sliding" : "none";
}

template <class Layers>
Var through(const Layers& blocks, Var x, const std::vector<AttentionMemory>* memories, const BlockContext& context) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    x = blocks[i](x, memories && !memories->empty() ? &(*memories)[i] : nullptr, context);
  }
  return x;
}

}  // namespace

FeedForward::FeedForward(const TransformerOptions& o, Random& random)
    : inner_(o.size, o.hidden, random, true, o.activation == "gelu" ? Activation::gelu : Activation::relu),
      outer_(o.hidden, o.size, random),
      dropout_(static_cast<real>(o.dropout)) {}

Var FeedForward::operator()(const Var& x, Random* training) const { return outer_(dropout_(inner_(x), training)); }

void FeedForward::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "inner", inner_);
  nn::visit_part(visit, "outer", outer_);
}

TransformerBlock::TransformerBlock(const TransformerOptions& o, Kind kind, int64_t layer, Random& random)
    : pre_(o.norm == "pre"),
      dropout_(static_cast<real>(o.dropout)),
      self_(attention_config(o, self_window(o, kind)), random, kind == Kind::encoder ? "encoder.self" : "decoder.self",
            layer),
      memory_(kind == Kind::decoder
                  ? std::make_unique<Attention>(attention_config(o, "none"), random, "decoder.memory", layer)
                  : nullptr),
      feed_forward_(o, random) {
  for (int i = 0; i < (memory_ ? 3 : 2); ++i) norms_.emplace_back(o.size);
}

/// pre: x + dropout(part(norm(x))); post: norm(x + dropout(part(x))).
template <class Part>
Var TransformerBlock::residual(const Var& x, const nn::LayerNorm& norm, Random* training, Part&& part) const {
  if (pre_) return add(x, dropout_(part(norm(x)), training));
  return norm(add(x, dropout_(part(x), training)));
}

Var TransformerBlock::operator()(const Var& x, const AttentionMemory* memory, const BlockContext& context) const {
  AttentionStep how;
  Random* random = context.training ? &context.training->random : nullptr;
  if (context.training) how = {.random = random, .update = context.training->update};
  Var y = residual(x, norms_[0], random,
                   [&](const Var& in) { return self_(in, self_.prepare(in, in, context.lengths), how).context; });
  if (memory_) {
    y = residual(y, norms_[1], random, [&](const Var& in) { return (*memory_)(in, *memory, how).context; });
  }
  return residual(y, norms_.back(), random, [&](const Var& in) { return feed_forward_(in, random); });
}

Var TransformerBlock::step(const Var& x, const AttentionMemory* memory, AttentionCache& cache,
                           std::span<const uint8_t> active) const {
  AttentionStep how{.position = cache.steps()};
  Var y = residual(x, norms_[0], nullptr, [&](const Var& in) { return self_(in, in, in, cache, active).context; });
  if (memory_) {
    y = residual(y, norms_[1], nullptr, [&](const Var& in) { return (*memory_)(in, *memory, how).context; });
  }
  return residual(y, norms_.back(), nullptr, [&](const Var& in) { return feed_forward_(in, nullptr); });
}

AttentionMemory TransformerBlock::prepare(const Var& source, std::span<const int32_t> lengths) const {
  return memory_->prepare(source, source, lengths);
}

void TransformerBlock::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "self", self_);
  if (memory_) nn::visit_part(visit, "memory", *memory_);
  nn::visit_part(visit, "feed_forward", feed_forward_);
  for (size_t i = 0; i < norms_.size(); ++i) nn::visit_part(visit, "norm." + std::to_string(i), norms_[i]);
}

TokenEmbedding::TokenEmbedding(const TransformerOptions& o, int64_t words, Random& random)
    : words_(words, o.size, random),
      positions_(o.positions == "learned" ? nn::Positions::learned(o.longest, o.size, random)
                                          : nn::Positions::sinusoidal(o.size)),
      dropout_(static_cast<real>(o.dropout)),
      scale_(std::sqrt(static_cast<real>(o.size))) {}

Var TokenEmbedding::operator()(const Ids& ids, Random* training, bool of_source) const {
  const Var words = of_source ? SourceWords::seen(words_(ids), false) : words_(ids);
  return dropout_(positions_(affine(words, scale_)), training);
}

Var TokenEmbedding::at(std::span<const int32_t> ids, std::span<const int64_t> positions) const {
  const int64_t N = static_cast<int64_t>(ids.size());
  return positions_.at(affine(words_(Ids({N, 1}, {ids.begin(), ids.end()})), scale_), positions);
}

void TokenEmbedding::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "words", words_);
  nn::visit_part(visit, "positions", positions_);
}

TransformerEncoder::TransformerEncoder(const TransformerOptions& o, Random& random)
    : words_(checked(o), require_size("source_vocabulary", o.source_vocabulary), random) {
  for (int64_t i = 0; i < o.encoder_layers; ++i) {
    blocks_.emplace_back(o, TransformerBlock::Kind::encoder, i, random);
  }
  if (o.norm == "pre") norm_ = std::make_unique<nn::LayerNorm>(o.size);
}

Var TransformerEncoder::operator()(const data::Sequences& source, Training* training) const {
  const Var x = words_(source.ids, training ? &training->random : nullptr, true);
  const Var y = through(blocks_, x, nullptr, {training, source.lengths});
  return norm_ ? (*norm_)(y) : y;
}

void TransformerEncoder::params(const nn::VisitParams& visit) {
  words_.params(visit);
  for (size_t i = 0; i < blocks_.size(); ++i) nn::visit_part(visit, std::to_string(i), blocks_[i]);
  if (norm_) nn::visit_part(visit, "norm", *norm_);
}

TransformerDecoder::TransformerDecoder(const TransformerOptions& o, bool has_source, const TokenEmbedding* source_words,
                                       Random& random)
    : vocabulary_(require_size("target_vocabulary", o.target_vocabulary)), shared_words_(nullptr) {
  if (o.tied == "all" && source_words) {
    require(o.source_vocabulary == o.target_vocabulary, "tied: all embeddings are one table only where source and ",
            "target share a vocabulary, got ", o.source_vocabulary, " and ", o.target_vocabulary, " words");
    shared_words_ = source_words;
  } else {
    own_words_ = std::make_unique<TokenEmbedding>(checked(o), vocabulary_, random);
  }
  const auto kind = has_source ? TransformerBlock::Kind::decoder : TransformerBlock::Kind::decoder_alone;
  for (int64_t i = 0; i < o.decoder_layers; ++i) blocks_.emplace_back(o, kind, i, random);
  if (o.norm == "pre") norm_ = std::make_unique<nn::LayerNorm>(o.size);
  if (o.tied == "none") output_weight_ = Var::leaf(nn::initial("glorot", {vocabulary_, o.size}, random));
  output_bias_ = Var::leaf(Tensor::zeros({vocabulary_}));
}

Var TransformerDecoder::output(const Var& x) const {
  const Var y = norm_ ? (*norm_)(x) : x;
  return linear(y, output_weight_.defined() ? output_weight_ : words().table(), output_bias_);
}

std::vector<AttentionMemory> TransformerDecoder::prepare(const Var& source, std::span<const int32_t> lengths) const {
  std::vector<AttentionMemory> memories;
  for (const TransformerBlock& block : blocks_) memories.push_back(block.prepare(source, lengths));
  return memories;
}

Var TransformerDecoder::operator()(const Ids& ids, const std::vector<AttentionMemory>& memories,
                                   const BlockContext& context) const {
  const Var x = words()(ids, context.training ? &context.training->random : nullptr, memories.empty());
  return output(through(blocks_, x, &memories, context));
}

TransformerDecoder::Caches TransformerDecoder::begin(std::vector<AttentionMemory> memories, int64_t rows) const {
  return {std::vector<AttentionCache>(blocks_.size()), std::move(memories),
          std::vector<int64_t>(static_cast<size_t>(rows), 0)};
}

void TransformerDecoder::Caches::take(std::span<const int32_t> rows) {
  for (AttentionCache& cache : layers) cache.take(rows);
  for (AttentionMemory& memory : memories) memory.take(rows);
  positions = taken(positions, rows);
}

Tensor TransformerDecoder::step(Caches& caches, std::span<const int32_t> ids, std::span<const uint8_t> active) const {
  const TapePause pause;
  require(ids.size() == caches.positions.size(), "Transformer: one id for each of ", caches.positions.size(),
          " hypotheses is wanted, got ", ids.size());
  Var x = words().at(ids, caches.positions);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    x = blocks_[i].step(x, caches.memories.empty() ? nullptr : &caches.memories[i], caches.layers[i], active);
  }
  for (size_t n = 0; n < ids.size(); ++n) caches.positions[n] += active.empty() || active[n] ? 1 : 0;
  return output(x).value().reshape({static_cast<int64_t>(ids.size()), vocabulary_});
}

void TransformerDecoder::params(const nn::VisitParams& visit) {
  if (own_words_) own_words_->params(visit);
  for (size_t i = 0; i < blocks_.size(); ++i) nn::visit_part(visit, std::to_string(i), blocks_[i]);
  if (norm_) nn::visit_part(visit, "norm", *norm_);
  if (output_weight_.defined()) visit("output.weight", output_weight_);
  visit("output.bias", output_bias_);
}

namespace {

struct TransformerState : State {
  TransformerDecoder::Caches caches;
  void take(std::span<const int32_t> rows) override { caches.take(rows); }
};

}  // namespace

Transformer::Transformer(const TransformerOptions& options, Random& random)
    : options_(options), encoder_(options, random), decoder_(options, true, &encoder_.words(), random) {}

void Transformer::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", encoder_);
  nn::visit_part(visit, "decoder", decoder_);
}

Var Transformer::loss(const data::Batch& batch, Training* training) const {
  require_same_count("Transformer", batch);
  require_not_empty("Transformer", batch.source);
  const Var source = encoder_(batch.source, training);
  const std::vector<AttentionMemory> memories = decoder_.prepare(source, batch.source.lengths);
  Ids inputs = data::decoder_inputs(batch.target);
  if (training && training->own_words > 0) {
    const TapePause pause;
    inputs = with_own_words(inputs, decoder_(inputs, memories, {}).value(), 1, training->own_words, training->random);
  }
  const Var logits = decoder_(inputs, memories, {training, {}});
  return cross_entropy(logits, data::decoder_targets(batch),
                       {.smoothing = training ? static_cast<real>(options_.label_smoothing) : 0});
}

std::unique_ptr<State> Transformer::begin(const data::Sequences& source) const {
  const TapePause pause;
  require_not_empty("Transformer", source);
  auto state = std::make_unique<TransformerState>();
  state->caches = decoder_.begin(decoder_.prepare(encoder_(source, nullptr), source.lengths), source.count());
  return state;
}

Tensor Transformer::next(State& state, std::span<const int32_t> last) const {
  return decoder_.step(dynamic_cast<TransformerState&>(state).caches, last);
}

TransformerLanguageModel::TransformerLanguageModel(const TransformerOptions& options, Random& random)
    : options_(options), decoder_(options, false, nullptr, random) {}

Var TransformerLanguageModel::loss(const data::Batch& batch, Training* training) const {
  require_same_count("TransformerLanguageModel", batch);
  refuse_own_words("TransformerLanguageModel", training);
  // source, kBegin, target → the same without its first token, and kEnd; only what follows kBegin counts.
  std::vector<std::vector<int32_t>> inputs, outputs;
  for (int64_t b = 0; b < batch.source.count(); ++b) {
    std::vector<int32_t> input = batch.source.row(b);
    std::vector<int32_t> output(input.size(), -1);
    const std::vector<int32_t> target = batch.target.row(b);
    input.push_back(data::kBegin);
    input.insert(input.end(), target.begin(), target.end());
    output.insert(output.end(), target.begin(), target.end());
    output.push_back(data::kEnd);
    for (size_t t = 0; t <= target.size() && !batch.only.empty(); ++t) {
      if (static_cast<int32_t>(t) != batch.only[static_cast<size_t>(b)])
        output[input.size() - 1 - target.size() + t] = -1;
    }
    inputs.push_back(std::move(input));
    outputs.push_back(std::move(output));
  }
  const data::Sequences sequences(inputs);
  for (auto& output : outputs) output.resize(static_cast<size_t>(sequences.longest()), -1);
  const Ids targets = data::Sequences(outputs).ids;
  const Var logits = decoder_(sequences.ids, {}, {training, {}});
  return cross_entropy(logits, targets, {.smoothing = training ? static_cast<real>(options_.label_smoothing) : 0});
}

std::unique_ptr<State> TransformerLanguageModel::begin(const data::Sequences& source) const {
  require(!source.lengths.empty(), "TransformerLanguageModel: at least one source is wanted (it may have no tokens)");
  auto state = std::make_unique<TransformerState>();
  state->caches = decoder_.begin({}, source.count());
  const size_t B = static_cast<size_t>(source.count()), S = static_cast<size_t>(source.longest());
  const int32_t longest = *std::max_element(source.lengths.begin(), source.lengths.end());
  for (size_t t = 0; t < static_cast<size_t>(longest); ++t) {
    std::vector<int32_t> ids(B);
    std::vector<uint8_t> active(B);
    for (size_t b = 0; b < B; ++b) {
      ids[b] = source.ids.values[b * S + t];
      active[b] = static_cast<size_t>(source.lengths[b]) > t;
    }
    decoder_.step(state->caches, ids, active);
  }
  return state;
}

Tensor TransformerLanguageModel::next(State& state, std::span<const int32_t> last) const {
  return decoder_.step(dynamic_cast<TransformerState&>(state).caches, last);
}

}  // namespace attend::models
