#include "attend/models/transformer_block.h"

#include <algorithm>
#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/models/rows.h"
#include "attend/models/source_words.h"

namespace attend::models {
namespace {

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

std::unique_ptr<Attention> attention_to(int64_t source, const TransformerOptions& o, int64_t layer, Random& random) {
  AttentionConfig config = attention_config(o, "none");
  if (source > 0) config.key = source;
  return std::make_unique<Attention>(config, random, AttentionSite{"decoder.memory", Purpose::source, layer});
}

std::string self_window(const TransformerOptions& o, TransformerBlock::Kind kind) {
  if (kind != TransformerBlock::Kind::encoder) return "causal";
  return o.window > 0 ? "sliding" : "none";
}

}  // namespace

TransformerOptions with_blocks(TransformerOptions options, const BlockOptions& blocks) {
  options.norm = blocks.norm, options.residual = blocks.residual, options.activation = blocks.activation;
  options.score = blocks.score, options.align = blocks.align, options.window = blocks.window;
  return options;
}

TransformerOptions checked(const TransformerOptions& o) {
  require_one_of("norm", {"pre", "post", "none"}, o.norm);
  require_one_of("positions", {"sinusoidal", "learned", "none"}, o.positions);
  require_one_of("activation", {"relu", "gelu"}, o.activation);
  require_one_of("tied", {"none", "output", "all"}, o.tied);
  refuse_previous({.score = o.score}, "");
  require_size("size", o.size);
  require_size("hidden", o.hidden);
  require_option(o.heads >= 1 && o.size % o.heads == 0, "heads", "expected a divisor of size ", o.size, ", got ",
                 o.heads);
  require_r_drop(o.r_drop, std::max(o.dropout, o.word_dropout));
  require_option(o.window >= 0, "window", "expected at least 0, got ", o.window);
  const int64_t letters = letter_reader(o.letters.kind).size(o.letters);
  require(letters < o.size, "letters: expected fewer numbers for the letters of a word than the ", o.size,
          " that a word has in all (size), got ", letters);
  return o;
}

FeedForward::FeedForward(const TransformerOptions& o, Random& random)
    : inner_(o.size, o.hidden, random, true, o.activation == "gelu" ? Activation::gelu : Activation::relu),
      outer_(o.hidden, o.size, random),
      dropout_(static_cast<real>(o.dropout)) {}

Var FeedForward::operator()(const Var& x, Random* training) const { return outer_(dropout_(inner_(x), training)); }

void FeedForward::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "inner", inner_);
  nn::visit_part(visit, "outer", outer_);
}

TransformerBlock::TransformerBlock(const TransformerOptions& o, Kind kind, int64_t layer, Random& random,
                                   int64_t source)
    : norm_(o.norm),
      residual_(o.residual),
      dropout_(static_cast<real>(o.dropout)),
      self_(attention_config(o, self_window(o, kind)), random,
            kind == Kind::encoder ? AttentionSite{"encoder.self", Purpose::self, layer}
                                  : AttentionSite{"decoder.self", Purpose::past, layer}),
      memory_(kind == Kind::decoder ? attention_to(source, o, layer, random) : nullptr),
      feed_forward_(o, random) {
  for (int i = 0; norm_ != "none" && i < (memory_ ? 3 : 2); ++i) norms_.emplace_back(o.size);
}

/// pre: x + dropout(part(norm(x))); post: norm(x + dropout(part(x))); none: x + dropout(part(x)). Without the residual, the
/// same without "x +". `index`: of the part, and so of its norm.
template <class Part>
Var TransformerBlock::with_part(const Var& x, size_t index, Random* training, Part&& part) const {
  const Var said = dropout_(part(norm_ == "pre" ? norms_[index](x) : x), training);
  const Var y = residual_ ? add(x, said) : said;
  return norm_ == "post" ? norms_[index](y) : y;
}

namespace {

/// The context of a read, and what it says about pointing if that is asked for.
Var context_of(const AttentionRead& read, const Sharing* share, Pointing* pointing) {
  const auto by_row = [&](const Var& x) { return share ? share->to_sequences(x) : x; };
  const Var context = by_row(read.context);
  if (!pointing) return context;
  const Var head = slice(read.undropped, 1, 0, 1);
  pointing->context = context;
  pointing->weights = by_row(reshape(head, {head.dim(0), head.dim(2), head.dim(3)}));
  return context;
}

}  // namespace

Var TransformerBlock::operator()(const Var& x, const AttentionMemory* memory, const BlockContext& context) const {
  AttentionStep how;
  Random* random = context.training ? &context.training->random : nullptr;
  if (context.training) how = {.random = random, .update = context.training->update};
  Var y = with_part(x, 0, random,
                   [&](const Var& in) { return self_(in, self_.prepare(in, in, context.lengths), how).context; });
  if (memory_) {
    how.weights = context.pointing != nullptr;
    y = with_part(y, 1, random, [&](const Var& in) {
      const Var queries = context.share ? context.share->to_slots(in) : in;
      return context_of((*memory_)(queries, *memory, how), context.share, context.pointing);
    });
  }
  return with_part(y, last_part(), random, [&](const Var& in) { return feed_forward_(in, random); });
}

Var TransformerBlock::step(const Var& x, const AttentionMemory* memory, AttentionCache& cache,
                           std::span<const uint8_t> active, Pointing* pointing) const {
  const AttentionStep how{.position = cache.steps(), .weights = pointing != nullptr};
  Var y = with_part(x, 0, nullptr, [&](const Var& in) { return self_(in, in, in, cache, active).context; });
  if (memory_) {
    y = with_part(y, 1, nullptr,
                 [&](const Var& in) { return context_of((*memory_)(in, *memory, how), nullptr, pointing); });
  }
  return with_part(y, last_part(), nullptr, [&](const Var& in) { return feed_forward_(in, nullptr); });
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
    : words_({words, o.size - letter_reader(o.letters.kind).size(o.letters), o.word_dropout, o.letters, o.marks},
             random),
      positions_(positions_of(o.positions, o.longest, o.size, random)),
      dropout_(static_cast<real>(o.dropout)),
      scale_(std::sqrt(static_cast<real>(o.size))) {}

Var TokenEmbedding::operator()(const Ids& ids, Random* training, bool of_source) const {
  return placed(of_source ? SourceWords::seen(words_(ids), false) : words_(ids), training);
}

Var TokenEmbedding::operator()(const data::Source& source, Training* training) const {
  return placed(SourceWords::seen(words_(source, training, false), false), random_of(training));
}

Var TokenEmbedding::placed(const Var& words, Random* training) const {
  const Var scaled = affine(words, scale_);
  return dropout_(positions_ ? (*positions_)(scaled) : scaled, training);
}

Var TokenEmbedding::at(std::span<const int32_t> ids, std::span<const int64_t> positions) const {
  const int64_t N = static_cast<int64_t>(ids.size());
  const Var scaled = affine(words_(Ids({N, 1}, {ids.begin(), ids.end()})), scale_);
  return positions_ ? positions_->at(scaled, positions) : scaled;
}

void TokenEmbedding::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "words", words_);
  if (positions_) nn::visit_part(visit, "positions", *positions_);
}

}  // namespace attend::models
