#include "attend/models/transformer.h"

#include <algorithm>
#include <utility>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/data/parts.h"
#include "attend/models/rows.h"
#include "attend/nn/initial.h"

namespace attend::models {
namespace {

/// Learned positions have a limit.
int64_t longest_of(const TransformerOptions& o) {
  return o.positions == "learned" || o.score == "location" ? o.longest : 0;
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerOptions& o, Random& random)
    : size_(o.size),
      longest_(longest_of(o)),
      words_(checked(o), require_size("source_vocabulary", o.source_vocabulary), random) {
  for (int64_t i = 0; i < o.encoder_layers; ++i) {
    blocks_.emplace_back(o, TransformerBlock::Kind::encoder, i, random);
  }
  if (o.norm == "pre") norm_ = std::make_unique<nn::LayerNorm>(o.size);
}

std::unique_ptr<Encoder> TransformerEncoder::make(const EncoderOptions& o, Random& random) {
  const TransformerOptions options{.source_vocabulary = o.vocabulary,
                                   .size = o.size,
                                   .heads = o.heads,
                                   .hidden = o.hidden,
                                   .encoder_layers = o.layers,
                                   .positions = o.positions == "auto" ? "sinusoidal" : o.positions,
                                   .longest = o.longest,
                                   .dropout = o.dropout,
                                   .word_dropout = o.word_dropout,
                                   .letters = o.letters,
                                   .marks = o.marks};
  return std::make_unique<TransformerEncoder>(with_blocks(options, o.blocks), random);
}

Encoded TransformerEncoder::operator()(const data::Source& source, Training* training) const {
  require_not_empty("encoder", source);
  Var x = words_(source, training);
  for (const TransformerBlock& block : blocks_) x = block(x, nullptr, {training, source.lengths()});
  Encoded encoded;
  encoded.states = norm_ ? (*norm_)(x) : x;
  encoded.lengths = source.lengths();
  encoded.summary = mean_state(encoded.states, encoded.lengths);
  return encoded;
}

void TransformerEncoder::params(const nn::VisitParams& visit) {
  words_.params(visit);
  for (size_t i = 0; i < blocks_.size(); ++i) nn::visit_part(visit, std::to_string(i), blocks_[i]);
  if (norm_) nn::visit_part(visit, "norm", *norm_);
}

/// The source prepared for each block.
struct TransformerDecoder::Memories : Memory {
  std::vector<AttentionMemory> blocks;
  CopiedWords copied;
  std::unique_ptr<const Sharing> share;  // none: one source for each row
};

/// What N hypotheses have read and said.
struct TransformerDecoder::Caches : State {
  std::vector<AttentionCache> blocks;
  std::vector<AttentionMemory> memories;
  std::vector<int64_t> positions;  // of each hypothesis's next token
  CopiedWords copied;
  bool joins = true;  // whether no attention to the source looks at the place of its query

  bool join(State& state) override {
    const TapePause pause;
    const auto* others = dynamic_cast<const Caches*>(&state);
    require(others != nullptr, "join: expected a state of the same decoder, got another");
    const auto side_by_side = [](const AttentionMemory& memory) { return memory.joins(); };
    if (!joins || !std::ranges::all_of(memories, side_by_side) ||
        !std::ranges::all_of(others->memories, side_by_side)) {
      return false;
    }
    const int64_t N = static_cast<int64_t>(positions.size()), M = static_cast<int64_t>(others->positions.size());
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i].join(others->blocks[i], N, M);
    for (size_t i = 0; i < memories.size(); ++i) memories[i].join(others->memories[i]);
    positions.insert(positions.end(), others->positions.begin(), others->positions.end());
    if (copied.words > 0) copied.join(others->copied, memories.at(0).keys());
    return true;
  }

  void take(std::span<const int32_t> rows) override {
    for (AttentionCache& cache : blocks) cache.take(rows);
    for (AttentionMemory& memory : memories) memory.take(rows);
    positions = taken(positions, rows);
    if (copied.words > 0) copied.take(rows);
  }
};

TransformerDecoder::TransformerDecoder(const TransformerOptions& o, int64_t source, const TokenEmbedding* source_words,
                                       Random& random)
    : source_(source > 0), vocabulary_(require_size("target_vocabulary", o.target_vocabulary)) {
  if (o.tied == "all" && source_words) {
    require_option(o.source_vocabulary == o.target_vocabulary && source_words->table().dim(1) == o.size, "tied",
                   "all embeddings are one table only where source and target share a vocabulary and a width, got ",
                   o.source_vocabulary, " and ", o.target_vocabulary, " words of widths ", source_words->table().dim(1),
                   " and ", o.size);
    shared_words_ = source_words;
  } else {
    own_words_ = std::make_unique<TokenEmbedding>(checked(o), vocabulary_, random);
  }
  const auto kind = source_ ? TransformerBlock::Kind::decoder : TransformerBlock::Kind::decoder_alone;
  for (int64_t i = 0; i < o.decoder_layers; ++i) blocks_.emplace_back(o, kind, i, random, source);
  if (o.norm == "pre") norm_ = std::make_unique<nn::LayerNorm>(o.size);
  if (o.tied == "none") output_weight_ = Var::leaf(nn::initial("glorot", {vocabulary_, o.size}, random));
  output_bias_ = Var::leaf(Tensor::zeros({vocabulary_}));
  if (!o.copy) return;
  require_option(source_ && o.decoder_layers > 0, "copy",
                 "words are copied from where a block of the decoder looks at the source, got a decoder without one");
  require_option(align_named(o.align).shares, "copy", "copying needs weights that sum to one, which ", o.align,
                 " does not give");
  copying_ = std::make_unique<CopyGate>(o.size, o.size, o.size, random);
}

void TransformerDecoder::params(const nn::VisitParams& visit) {
  if (own_words_) own_words_->params(visit);
  for (size_t i = 0; i < blocks_.size(); ++i) nn::visit_part(visit, std::to_string(i), blocks_[i]);
  if (norm_) nn::visit_part(visit, "norm", *norm_);
  if (output_weight_.defined()) visit("output.weight", output_weight_);
  visit("output.bias", output_bias_);
  if (copying_) nn::visit_part(visit, "copying", *copying_);
}

/// What words are told from → logits.
Var TransformerDecoder::output(const Var& top) const {
  return linear(top, output_weight_.defined() ? output_weight_ : words().table(), output_bias_);
}

/// What the blocks make of the words; it is the last one that points.
Var TransformerDecoder::top(const Var& words, const std::vector<AttentionMemory>& memories,
                            BlockContext context) const {
  Pointing* const pointing = std::exchange(context.pointing, nullptr);
  Var x = words;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (i + 1 == blocks_.size()) context.pointing = pointing;
    x = blocks_[i](x, source_ ? &memories[i] : nullptr, context);
  }
  return norm_ ? (*norm_)(x) : x;
}

std::unique_ptr<Decoder::Memory> TransformerDecoder::prepare(const Encoded& encoded,
                                                             std::span<const int32_t> source_of) const {
  auto memories = std::make_unique<Memories>();
  Var states = encoded.states;
  std::vector<int32_t> lengths = encoded.lengths;
  if (!source_of.empty()) {
    const auto shares = [](const TransformerBlock& block) { return Sharing::fits(block.memory().config()); };
    if (std::ranges::all_of(blocks_, shares)) {
      memories->share = std::make_unique<const Sharing>(states.dim(0), source_of);
    } else {
      states = take_rows(states, source_of);
      if (!lengths.empty()) lengths = taken(lengths, source_of);
    }
  }
  for (const TransformerBlock& block : blocks_) memories->blocks.push_back(block.prepare(states, lengths));
  if (copying_) memories->copied = CopiedWords(encoded, source_of, vocabulary_);
  return memories;
}

Prediction TransformerDecoder::predict(const Ids& inputs, const Memory& memory, Training* training) const {
  const auto& memories = dynamic_cast<const Memories&>(memory);
  const Var said = words()(inputs, random_of(training), !source_);
  Pointing pointing;
  const Var y = top(said, memories.blocks, {training, {}, memories.share.get(), copying_ ? &pointing : nullptr});
  Prediction all{.logits = output(y)};
  if (!copying_) return all;
  all.mixture = {.logits = all.logits,
                 .gate = (*copying_)(pointing.context, y, said),
                 .weights = pointing.weights,
                 .words = memories.copied.ids};
  all.words = memories.copied.words;
  return all;
}

std::unique_ptr<State> TransformerDecoder::begin(const Encoded& encoded) const {
  std::unique_ptr<State> state = begin_alone(encoded.states.dim(0));
  auto& caches = dynamic_cast<Caches&>(*state);
  for (const TransformerBlock& block : blocks_) {
    caches.memories.push_back(block.prepare(encoded.states, encoded.lengths));
    caches.joins &= Sharing::fits(block.memory().config());
  }
  if (copying_) caches.copied = CopiedWords(encoded, {}, vocabulary_);
  return state;
}

Tensor TransformerDecoder::next(State& state, std::span<const int32_t> last) const { return step(state, last, {}); }

Var TransformerDecoder::alone(const Ids& ids, Training* training) const {
  return output(top(words()(ids, random_of(training), !source_), {}, {training, {}}));
}

std::unique_ptr<State> TransformerDecoder::begin_alone(int64_t rows) const {
  auto caches = std::make_unique<Caches>();
  caches->blocks.resize(blocks_.size());
  caches->positions.assign(static_cast<size_t>(rows), 0);
  return caches;
}

Tensor TransformerDecoder::step(State& state, std::span<const int32_t> ids, std::span<const uint8_t> active) const {
  const TapePause pause;
  auto& caches = dynamic_cast<Caches&>(state);
  require(ids.size() == caches.positions.size(), "next: expected one id for each of ", caches.positions.size(),
          " hypotheses, got ", ids.size());
  const Var said = words().at(ids, caches.positions);
  Pointing pointing;
  Var x = said;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    Pointing* const points = copying_ && i + 1 == blocks_.size() ? &pointing : nullptr;
    x = blocks_[i].step(x, source_ ? &caches.memories[i] : nullptr, caches.blocks[i], active, points);
  }
  for (size_t n = 0; n < ids.size(); ++n) caches.positions[n] += active.empty() || active[n] ? 1 : 0;
  if (norm_) x = (*norm_)(x);
  const Var logits = output(x);
  const int64_t N = static_cast<int64_t>(ids.size());
  if (!copying_) return logits.value().reshape({N, vocabulary_});
  const CopyMixture mixture{.logits = logits,
                            .gate = (*copying_)(pointing.context, x, said),
                            .weights = pointing.weights,
                            .words = caches.copied.ids};
  return copy_log_probabilities(mixture, caches.copied.words).reshape({N, caches.copied.words});
}

void TransformerDecoder::set_align(const std::string& name) {
  require(source_, "set_align: only a decoder with a source has an attention whose align can be changed");
  require(name != "sample",
          "set_align: a Transformer does not learn from choices that it draws; expected another align");
  for (TransformerBlock& block : blocks_) block.memory().set_align(name);
}

int64_t TransformerDecoder::hypothesis_numbers(int64_t length) const {
  return 2 * static_cast<int64_t>(blocks_.size()) * words().table().dim(1) * length;
}

int64_t TransformerDecoder::longest_source() const {
  if (!source_ || blocks_.empty()) return 0;
  const AttentionConfig& config = blocks_[0].memory().config();
  return config.score == "location" ? config.longest : 0;
}

EncoderDecoder::Parts parts_of(const TransformerOptions& options, Random& random) {
  EncoderDecoder::Parts parts{
      .name = "transformer", .label_smoothing = options.label_smoothing, .r_drop = options.r_drop};
  TransformerOptions marked = options;
  marked.marks = marks_of(options.texts);
  auto encoder = std::make_unique<TransformerEncoder>(marked, random);
  parts.decoder = std::make_unique<TransformerDecoder>(options, options.size, encoder->tokens(), random);
  parts.encoder = of_texts(options.texts, std::move(encoder));
  return parts;
}

TransformerLanguageModel::TransformerLanguageModel(const TransformerOptions& options, Random& random)
    : options_(options), decoder_(options, 0, nullptr, random) {}

data::Sequences TransformerLanguageModel::words_of(const data::Source& source) const {
  return options_.texts > 1 ? data::joined_texts(source).text() : source.text();
}

Var TransformerLanguageModel::loss(const data::Batch& batch, Training* training) const {
  require_same_count("language_model", batch);
  refuse_own_words("language_model", training);
  // source, kBegin, target → the same without its first token, and kEnd; only what follows kBegin counts.
  std::vector<std::vector<int32_t>> inputs, outputs;
  const data::Sequences sources = words_of(batch.source);
  for (int64_t b = 0; b < sources.count(); ++b) {
    std::vector<int32_t> input = sources.row(b);
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
  const CrossEntropyOptions how{.smoothing = training ? static_cast<real>(options_.label_smoothing) : 0};
  const Var logits = decoder_.alone(sequences.ids, training);
  if (!training || options_.r_drop == 0) return cross_entropy(logits, targets, how);
  const Var others = decoder_.alone(sequences.ids, training);
  return paired_cross_entropy(logits, others, targets, static_cast<real>(options_.r_drop), how);
}

std::unique_ptr<State> TransformerLanguageModel::begin(const data::Source& source) const {
  require(!source.lengths().empty(), "language_model: expected at least one source (it may have no tokens), got none");
  std::unique_ptr<State> state = decoder_.begin_alone(source.count());
  const data::Sequences words = words_of(source);
  const size_t B = static_cast<size_t>(source.count()), S = static_cast<size_t>(words.longest());
  const int32_t longest = *std::max_element(words.lengths.begin(), words.lengths.end());
  for (size_t t = 0; t < static_cast<size_t>(longest); ++t) {
    std::vector<int32_t> ids(B);
    std::vector<uint8_t> active(B);
    for (size_t b = 0; b < B; ++b) {
      ids[b] = words.ids.values[b * S + t];
      active[b] = static_cast<size_t>(words.lengths[b]) > t;
    }
    decoder_.step(*state, ids, active);
  }
  return state;
}

Tensor TransformerLanguageModel::next(State& state, std::span<const int32_t> last) const {
  return decoder_.next(state, last);
}

int64_t TransformerLanguageModel::longest_source() const { return longest_of(options_); }

Var TransformerLanguageModel::word_table() const { return decoder_.word_table(); }

}  // namespace attend::models
