#include "attend/models/recurrent_decoder.h"

#include <algorithm>
#include <array>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"
#include "attend/nn/initial.h"

namespace attend::models {
namespace {

constexpr DecoderInputRow kInputs[] = {
    {"every_step", "the encoder's last state enters every update", "Cho et al. 2014", "zeros"},
    {"first_step", "the encoder's last state enters the first update", "", "zeros"},
    {"initial_state", "s₀ = the encoder's last state", "Sutskever et al. 2014", "last"},
    {"bridge", "s₀ = tanh(W·last state)", "Bahdanau et al. 2015, A.2.2", "bridge_cells"},
    {"reread", "the input is read again for every word, beside the decoder's state", "", "bridge"},
    {"attention", "cₜ = Σ αₜⱼ hⱼ", "Bahdanau et al. 2015; Luong et al. 2015", "bridge"},
};

constexpr ReadoutRow kReadouts[] = {
    {"joint", "W·[sₜ; cₜ; yₜ₋₁] + b, or W·s̃ₜ + b with the query after the update", "Luong et al. 2015"},
    {"deep", "W·tanh(yₜ₋₁ + L_s·sₜ + L_c·cₜ) + b", "Pascanu et al. 2014; Xu et al. 2015, eq. 7"},
    {"state", "V·sₜ + b: the state alone", "Sutskever et al. 2014"},
};

constexpr StartRow kStarts[] = {
    {"zeros", "0"},
    {"last", "the encoder's last state of each layer, directions added"},
    {"bridge", "h = tanh(W·summary), the lstm's cell 0"},
    {"bridge_cells", "the lstm's cell, too, is tanh(W·summary)"},
};

/// Every sequence's last states side by side: [B, directions·H].
Var joined(const std::vector<Var>& parts) { return parts.size() == 1 ? parts[0] : concat(parts, -1); }

/// The mean over heads: [N,heads,Tq,Tk] → [N,Tq,Tk].
Var mean_head(const Var& weights) {
  const int64_t N = weights.dim(0), queries = weights.dim(2), keys = weights.dim(3);
  return weights.dim(1) == 1 ? reshape(weights, {N, queries, keys}) : mean(weights, 1);
}

/// Whether neither the query's place nor what was looked at before it matters, other than as a sum that begins at zero.
bool looks_the_same_at_every_step(const AttentionConfig& config) {
  return config.window == "none" && !score_named(config.score).by_place && !needs_previous(config);
}

/// Σ over heads of the values of a draw: [N,heads,Tq] → [N,Tq,1].
Var over_heads(const Var& x) { return reshape(sum(x, 1), {x.dim(0), x.dim(2), 1}); }

}  // namespace

std::span<const DecoderInputRow> decoder_inputs() { return kInputs; }
std::span<const StartRow> starts() { return kStarts; }
std::span<const ReadoutRow> readouts() { return kReadouts; }

/// What the decoder may know about the sources of N rows.
struct RecurrentDecoder::Source : Memory {
  std::vector<RecurrentState> last;      // of every layer, forward before backward: for its first state
  Var summary;                           // [N,D]
  AttentionMemory memory;                // of the rows or, if they are shared, of the sources
  std::shared_ptr<const Sharing> share;  // none: one source for each row
  Var words;                             // [S,N,E], reread
  std::vector<int32_t> lengths;          // by row; empty: all places count
  CopiedWords copied;                    // by row
  GivenWeights given;                    // by row

  void take(std::span<const int32_t> rows) {
    summary = take_rows(summary, rows);
    if (words.defined()) words = transpose(take_rows(transpose(words, 0, 1), rows), 0, 1);
    if (!lengths.empty()) lengths = taken(lengths, rows);
    if (copied.words > 0) copied.take(rows);
    given.take(rows);
    if (memory.rows() > 0) memory.take(rows);
  }

  /// `rows` of these and so many of the others. Returns the number of places of the longest source that is left; 0: it does not
  /// matter here.
  int64_t join(const Source& other, int64_t rows, int64_t other_rows) {
    summary = joined_rows(summary, rows, other.summary, other_rows);
    int64_t places = 0;
    if (memory.rows() > 0) {
      memory.join(other.memory);
      places = memory.keys();
      lengths = memory.lengths();
    } else if (words.defined()) {
      lengths = all_lengths(words.dim(0), rows);
      const std::vector<int32_t> more = other.all_lengths(other.words.dim(0), other_rows);
      lengths.insert(lengths.end(), more.begin(), more.end());
      places = *std::ranges::max_element(lengths);
      const int64_t width = words.dim(2);
      const auto by_row = [&](const Var& x) {
        const Var turned = transpose(x, 0, 1);
        return reshape(turned, {turned.dim(0), turned.dim(1) * width});
      };
      const Var both = joined_rows(by_row(words), rows, by_row(other.words), other_rows, places * width);
      words = transpose(reshape(both, {rows + other_rows, places, width}), 0, 1);
    } else {
      lengths.clear();  // nobody reads the source again
    }
    if (copied.words > 0) copied.join(other.copied, places);
    return places;
  }

 private:
  std::vector<int32_t> all_lengths(int64_t places, int64_t rows) const {
    return lengths.empty() ? std::vector<int32_t>(static_cast<size_t>(rows), static_cast<int32_t>(places)) : lengths;
  }
};

/// What the decoder carries from step to step.
struct RecurrentDecoder::DecoderState {
  std::vector<RecurrentState> layers;
  Var feed;      // [N,H], the last attentional vector
  Var coverage;  // [N,S]
  Var previous;  // [N,S], the last weights before dropout, the mean over heads, where attention looks at them
  int64_t position = 0;
};

struct RecurrentDecoder::Hypotheses : State {
  std::unique_ptr<Source> source;
  DecoderState state;
  bool joins = false;  // whether the steps of hypotheses of different lengths are the same computation

  int64_t rows() const { return state.layers[0].h.dim(0); }

  /// Beyond the first step, what is not yet there is zero: that is how it begins.
  bool join(State& state_of_others) override {
    const TapePause pause;
    const auto* others = dynamic_cast<const Hypotheses*>(&state_of_others);
    require(others != nullptr, "join: expected a state of the same decoder, got another");
    if (!joins || !others->joins || !source->memory.joins() || !others->source->memory.joins()) return false;
    const int64_t N = rows(), M = others->rows(), places = source->join(*others->source, N, M);
    for (size_t i = 0; i < state.layers.size(); ++i) {
      state.layers[i].h = joined_rows(state.layers[i].h, N, others->state.layers[i].h, M);
      state.layers[i].c = joined_rows(state.layers[i].c, N, others->state.layers[i].c, M);
    }
    state.feed = joined_rows(state.feed, N, others->state.feed, M);
    state.coverage = joined_rows(state.coverage, N, others->state.coverage, M, places);
    state.position = std::max(state.position, others->state.position);
    return true;
  }

  void take(std::span<const int32_t> rows) override {
    source->take(rows);
    for (RecurrentState& layer : state.layers) {
      layer.h = take_rows(layer.h, rows);
      layer.c = take_rows(layer.c, rows);
    }
    state.feed = take_rows(state.feed, rows);
    state.coverage = take_rows(state.coverage, rows);
    state.previous = take_rows(state.previous, rows);
  }
};

/// The output of one step, each [N,·].
struct RecurrentDecoder::Step {
  Var top, context, weights, pointed, asked, log_probability, entropy;
};

/// The output of all steps. With the query after the update, states are attentional vectors.
struct RecurrentDecoder::Trail : AttentionTrail {
  Var states;    // [T,N,H]
  Var contexts;  // [T,N,context_], if they are read out or the gate of copying needs them
  Var pointed;   // [N,T,S], if words are copied: the weights before dropout
};

RecurrentDecoder::RecurrentDecoder(const RecurrentDecoderOptions& options, nn::Embedding words,
                                   const EncodedSizes& source, Random& random)
    : options_(options),
      input_(static_cast<InputKind>(&row_named("decoder.input", kInputs, options.input) - kInputs)),
      readout_(static_cast<Readout>(&row_named("decoder.readout", kReadouts, options.readout) - kReadouts)),
      after_(options.query == "after"),
      asks_word_(options.asks == "state_word"),
      cell_(nn::cell_named(options.cell)),
      words_(std::move(words)),
      dropout_(static_cast<real>(options.dropout)) {
  require_one_of("decoder.query", {"before", "after"}, options.query);
  require_one_of("decoder.asks", {"state", "state_word"}, options.asks);
  require_size("decoder.layers", options.layers);
  require_option(!options.feeding || (after_ && input_ == InputKind::attention), "decoder.feeding",
                 "input feeding needs decoder.input attention and decoder.query after, got ", options.input, " and ",
                 options.query);
  require_option(input_ == InputKind::attention || !after_, "decoder.query",
                 "only decoder.input attention asks after the update, got input ", options.input);
  require_option(!options.copy || input_ == InputKind::attention, "decoder.copy",
                 "words are copied from where attention looks, which needs decoder.input attention, got ",
                 options.input);
  require_option(!options.copy || align_named(options.attention.align).shares, "decoder.copy",
                 "copying needs weights that sum to one, which ", options.attention.align, " does not give");
  require_option(
      !options.copy || options.attention.window != "local_p", "decoder.copy",
      "the weights that words are copied by must sum to one, which those of attention.window local_p do not");
  require_option(!options.oracle || input_ == InputKind::attention, "decoder.oracle",
                 "only attention can be told where to look, which needs decoder.input attention, got ", options.input);
  require_option(!options.oracle || options.attention.align != "sample", "decoder.oracle",
                 "attention.align sample learns from where it drew to look; choose another one where that is told");
  require_option(
      !options.oracle || !options.copy, "decoder.oracle",
      "words are copied (decoder.copy) from where attention looks, but it is told to look at nothing where a word "
      "corresponds to none; choose one of them");
  make_reader(source, random);
  make_update(random);
  make_start(source, random);
  make_readout(random);
  if (options.copy) {
    copying_ = std::make_unique<CopyGate>(context_, options_.hidden, words_.table().dim(1), random);
  }
}

RecurrentDecoder::~RecurrentDecoder() = default;

/// What each step gets from the source.
void RecurrentDecoder::make_reader(const EncodedSizes& source, Random& random) {
  const int64_t E = words_.table().dim(1), H = require_size("hidden", options_.hidden);
  if (input_ == InputKind::attention) {
    AttentionConfig config = options_.attention;
    require_option(source.stride == 0 || !window_named(config.window).beside, "attention.window",
                   "expected none, local_p or median over sound, got ", config.window,
                   ", which expects word i near place i; a sound has many more places than words");
    config.query = asks_word_ ? H + E : H, config.key = config.value = source.states;
    // If queries and states differ in width, a dot product needs its keys projected.
    if (score_named(config.score).equal_widths && config.query != config.key && config.query_projection == "none" &&
        config.key_projection == "none") {
      config.key_projection = "linear";
    }
    attention_ = std::make_unique<Attention>(config, random, AttentionSite{"decoder.memory"});
    context_ = attention_->context_size();
    if (options_.gate) gate_ = std::make_unique<nn::Linear>(H, 1, random);
    if (config.align == "sample") reinforce_ = std::make_unique<Reinforce>(options_.reinforce, config.query, random);
  } else if (input_ == InputKind::reread) {
    const bool both_ways = source.directions == 2;
    rereader_ = std::make_unique<nn::Recurrent>(
        nn::RecurrentOptions{.cell = cell_,
                             .input = (source.words > 0 ? source.words : source.states) + H,
                             .hidden = H,
                             .layers = 1,
                             .bidirectional = both_ways},
        random);
    context_ = both_ways ? 2 * H : H;
  } else if (input_ == InputKind::every_step || input_ == InputKind::first_step) {
    context_ = source.states;
  }
}

void RecurrentDecoder::make_update(Random& random) {
  const int64_t H = options_.hidden, width = static_cast<int64_t>(kernels::gates_of(cell_)) * H;
  const auto weight = [&](int64_t in) { return Var::leaf(nn::initial("glorot", {width, in}, random)); };
  word_weight_ = weight(words_.table().dim(1));
  Tensor bias = Tensor::zeros({width});
  if (cell_ == Cell::lstm) std::fill_n(bias.data() + H, H, real{1});
  bias_ = Var::leaf(bias);
  if (context_ > 0 && !after_) context_weight_ = weight(context_);
  if (options_.feeding) feed_weight_ = weight(H);
  state_weight_ = Var::leaf(nn::initial("orthogonal", {width, H}, random));
  if (cell_ == Cell::gru) candidate_bias_ = Var::leaf(Tensor::zeros({H}));
  for (int64_t layer = 1; layer < options_.layers; ++layer) upper_.emplace_back(cell_, H, H, random);
}

void RecurrentDecoder::make_start(const EncodedSizes& source, Random& random) {
  const int64_t H = options_.hidden;
  const std::string_view start = options_.start == "auto" ? kInputs[static_cast<size_t>(input_)].start : options_.start;
  start_ = static_cast<Start>(&row_named("decoder.start", kStarts, start) - kStarts);
  if (start_ == Start::last) {
    const int64_t width = source.layers > 0 ? source.state : source.states;
    require_option(width == H, "decoder.start", "the encoder's last state, of width ", width,
                   ", is the decoder's first only where both have the same width, got ", H);
    require_option(source.layers == 0 || source.layers == options_.layers, "decoder.start", "the last states of ",
                   source.layers, " layers of the encoder are the decoder's first only where it has as many layers, ",
                   "got ", options_.layers);
  }
  if (start_ != Start::bridge && start_ != Start::bridge_cells) return;
  const int64_t states = options_.layers * (cell_ == Cell::lstm && start_ == Start::bridge_cells ? 2 : 1);
  for (int64_t i = 0; i < states; ++i) bridge_.emplace_back(source.states, H, random, true, Activation::tanh);
}

void RecurrentDecoder::make_readout(Random& random) {
  const int64_t E = words_.table().dim(1), H = options_.hidden;
  if (after_) combine_ = std::make_unique<nn::Linear>(context_ + H, H, random, false, Activation::tanh);
  if (readout_ == Readout::deep) {
    state_output_ = std::make_unique<nn::Linear>(H, E, random);
    if (context_ > 0) context_output_ = std::make_unique<nn::Linear>(context_, E, random, false);
  }
  const int64_t width = readout_ == Readout::deep ? E : readout_ == Readout::state || after_ ? H : H + context_ + E;
  output_ = std::make_unique<nn::Linear>(width, vocabulary(), random);
}

void RecurrentDecoder::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "words", words_);
  visit("cell.word_weight", word_weight_);
  visit("cell.bias", bias_);
  if (context_weight_.defined()) visit("cell.context_weight", context_weight_);
  if (feed_weight_.defined()) visit("cell.feed_weight", feed_weight_);
  visit("cell.state_weight", state_weight_);
  if (candidate_bias_.defined()) visit("cell.candidate_bias", candidate_bias_);
  for (size_t i = 0; i < upper_.size(); ++i) nn::visit_part(visit, "cell." + std::to_string(i + 1), upper_[i]);
  for (size_t i = 0; i < bridge_.size(); ++i) nn::visit_part(visit, "bridge." + std::to_string(i), bridge_[i]);
  if (attention_) nn::visit_part(visit, "attention", *attention_);
  if (gate_) nn::visit_part(visit, "gate", *gate_);
  if (rereader_) nn::visit_part(visit, "rereader", *rereader_);
  if (combine_) nn::visit_part(visit, "combine", *combine_);
  if (state_output_) nn::visit_part(visit, "state_output", *state_output_);
  if (context_output_) nn::visit_part(visit, "context_output", *context_output_);
  nn::visit_part(visit, "output", *output_);
  if (reinforce_) nn::visit_part(visit, "reinforce", *reinforce_);
  if (copying_) nn::visit_part(visit, "copying", *copying_);
}

void RecurrentDecoder::set_align(const std::string& name) {
  require(attention_ != nullptr, "set_align: only a decoder with attention has an align");
  require(name != "sample" || reinforce_, "set_align: only a network that was made with align sample has what ",
          "REINFORCE learns; make it with attention.align sample and change the align afterwards");
  attention_->set_align(name);
}

void RecurrentDecoder::require_trainable() const {
  if (!attention_) return;
  const std::string& align = attention_->config().align;
  require_option(align_named(align).trains, "attention.align", align,
                 " cannot be trained, as no gradient flows through it; train with sample, gumbel or softmax and change "
                 "the align afterwards");
}

int64_t RecurrentDecoder::longest_source() const {
  return attention_ && attention_->config().score == "location" ? attention_->config().longest : 0;
}

AttentionLosses RecurrentDecoder::losses() const {
  if (!attention_) return {};
  return {options_.coverage_penalty, options_.doubly_stochastic, reinforce_.get()};
}

Var RecurrentDecoder::further_losses(const Prediction& said, const Memory& memory, const Ids& targets,
                                     std::span<const int32_t> target_lengths) const {
  const bool drawn = said.trail.log_probability.defined();
  return losses()(said.trail, drawn ? Var(said.scores()) : said.logits, targets, target_lengths,
                  dynamic_cast<const Source&>(memory).lengths);
}

std::unique_ptr<RecurrentDecoder::Source> RecurrentDecoder::read_source(const Encoded& encoded,
                                                                        std::span<const int32_t> source_of) const {
  const auto by_row = [&](const Var& x) { return source_of.empty() ? x : take_rows(x, source_of); };
  auto source = std::make_unique<Source>();
  source->summary = by_row(encoded.summary);
  source->lengths = source_of.empty() || encoded.lengths.empty() ? encoded.lengths : taken(encoded.lengths, source_of);
  if (start_ == Start::last) {
    for (const RecurrentState& one : encoded.last) source->last.push_back({by_row(one.h), by_row(one.c)});
  }
  if (input_ == InputKind::reread) {
    const Var words = encoded.words.defined() ? encoded.words : transpose(encoded.states, 0, 1);
    source->words = source_of.empty() ? words : transpose(take_rows(transpose(words, 0, 1), source_of), 0, 1);
  }
  if (copying_) source->copied = CopiedWords(encoded, source_of, vocabulary());
  if (!attention_) return source;
  require(encoded.given.any() || !options_.oracle,
          "decoder.oracle: expected a gold word alignment with each source, got none; ",
          "this network answers only examples that have one");
  require(!encoded.given.any() || source_of.empty(),
          "decoder: expected one answer to each source, as it is given where that one looks, got several");
  source->given = encoded.given;
  const bool shared = !source_of.empty() && Sharing::fits(attention_->config());
  if (shared) source->share = std::make_shared<const Sharing>(encoded.states.dim(0), source_of);
  const Var states = shared ? encoded.states : by_row(encoded.states);
  source->memory = attention_->prepare(states, states, shared ? encoded.lengths : source->lengths);
  return source;
}

std::unique_ptr<Decoder::Memory> RecurrentDecoder::prepare(const Encoded& encoded,
                                                           std::span<const int32_t> source_of) const {
  return read_source(encoded, source_of);
}

RecurrentDecoder::DecoderState RecurrentDecoder::first_state(const Source& source) const {
  const size_t layers = static_cast<size_t>(options_.layers), directions = source.last.size() / layers;
  const bool lstm = cell_ == Cell::lstm;
  DecoderState state;
  state.layers.resize(layers);
  for (size_t i = 0; i < layers; ++i) {
    RecurrentState& layer = state.layers[i];
    if (!bridge_.empty()) {
      layer.h = bridge_[i](source.summary);
      if (lstm && bridge_.size() > layers) layer.c = bridge_[layers + i](source.summary);
    } else if (start_ == Start::last && source.last.empty()) {
      layer.h = source.summary;
    } else if (start_ == Start::last) {
      // Both directions have read everything; the decoder's width is that of one, so they are added.
      const RecurrentState& forward = source.last[i * directions];
      const RecurrentState& backward = source.last[i * directions + directions - 1];
      layer.h = directions == 1 ? forward.h : add(forward.h, backward.h);
      if (lstm && forward.c.defined()) layer.c = directions == 1 ? forward.c : add(forward.c, backward.c);
    } else {
      layer.h = Tensor::zeros({source.summary.dim(0), options_.hidden});
    }
    if (lstm && !layer.c.defined()) layer.c = Tensor::zeros({source.summary.dim(0), options_.hidden});
  }
  return state;
}

/// The last states of rereading [word; state]: [N, directions·H].
Var RecurrentDecoder::reread(const Source& source, const Var& state) const {
  const int64_t S = source.words.dim(0), N = state.dim(0), H = state.dim(1);
  const Var beside = add(reshape(state, {1, N, H}), Tensor::zeros({S, 1, 1}));
  const nn::Recurrent::Output read = (*rereader_)(concat(std::array{source.words, beside}, 2), source.lengths);
  std::vector<Var> last;
  for (const RecurrentState& one : read.last) last.push_back(one.h);
  return joined(last);
}

/// h [..,H], the previous words [..,E].
Var RecurrentDecoder::query(const Var& h, const Var& word) const {
  return asks_word_ ? concat(std::array{h, word}, -1) : h;
}

/// What h reads of the source, through the gate: context, weights and what was drawn of `result`.
void RecurrentDecoder::attend_to(const Source& source, const Var& h, const Var& word, DecoderState& state,
                                 const AttentionStep& how, Step& result) const {
  AttentionStep asked = how;
  asked.position = state.position;
  asked.coverage = state.coverage;
  asked.previous = state.previous;
  asked.given = source.given.at(state.position);
  const bool looks_back = needs_previous(attention_->config());
  const bool needed = options_.attention.coverage || losses().needs_weights();
  asked.weights = needed || looks_back || copying_;
  result.asked = query(h, word);
  const int64_t N = result.asked.dim(0), Q = result.asked.dim(1);
  const auto by_row = [&](const Var& x) {  // [·,each,W] → [N,W]
    return source.share ? source.share->to_rows(x) : reshape(x, {N, x.dim(2)});
  };
  const Var queries = source.share ? source.share->to_slots(result.asked) : reshape(result.asked, {N, 1, Q});
  const AttentionRead read = (*attention_)(queries, source.memory, asked);
  result.context = by_row(read.context);
  if (gate_) result.context = multiply(result.context, sigmoid((*gate_)(h)));
  if (needed) result.weights = by_row(mean_head(read.weights));
  if (looks_back || copying_) {
    const Var whole = needed && options_.attention.dropout == 0 ? result.weights : by_row(mean_head(read.undropped));
    if (looks_back) state.previous = whole;
    if (copying_) result.pointed = whole;
  }
  if (options_.attention.coverage) {
    state.coverage = state.coverage.defined() ? add(state.coverage, result.weights) : result.weights;
  }
  if (!read.log_probability.defined()) return;
  result.log_probability = by_row(over_heads(read.log_probability));
  result.entropy = by_row(over_heads(read.entropy));
}

/// `word` is read only if it is part of the query.
RecurrentDecoder::Step RecurrentDecoder::step(const Var& word, const Var& word_gates, const Source& source,
                                              DecoderState& state, const AttentionStep& how) const {
  Step result;
  const int64_t N = word_gates.dim(0), width = word_gates.dim(1);
  Var gates = word_gates;
  if (input_ == InputKind::every_step || (input_ == InputKind::first_step && state.position == 0))
    result.context = source.summary;
  if (input_ == InputKind::first_step && state.position > 0) result.context = Tensor::zeros({N, context_});
  if (input_ == InputKind::reread) result.context = reread(source, state.layers.back().h);
  if (input_ == InputKind::attention && !after_) attend_to(source, state.layers.back().h, word, state, how, result);
  if (context_weight_.defined()) gates = add(linear(result.context, context_weight_, {}), gates);
  if (state.feed.defined()) gates = add(linear(state.feed, feed_weight_, {}), gates);
  state.layers[0] =
      recurrence(cell_, reshape(std::move(gates), {1, N, width}), state_weight_, candidate_bias_, state.layers[0]).last;
  for (size_t i = 0; i < upper_.size(); ++i) {
    state.layers[i + 1] = upper_[i](dropout_(state.layers[i].h, how.random), state.layers[i + 1]);
  }
  result.top = state.layers.back().h;
  if (after_) {
    attend_to(source, result.top, word, state, how, result);
    result.top = (*combine_)(concat(std::array{result.context, result.top}, 1));
    if (options_.feeding) state.feed = result.top;
  }
  ++state.position;
  return result;
}

/// True if a step needs what an earlier one has read.
bool RecurrentDecoder::needs_steps() const {
  if (input_ == InputKind::reread || options_.feeding) return true;
  return input_ == InputKind::attention &&
         (!after_ || options_.attention.coverage || needs_previous(options_.attention));
}

bool RecurrentDecoder::reads_out_contexts() const {
  return context_ > 0 && (readout_ == Readout::deep || (readout_ == Readout::joint && !after_));
}

RecurrentDecoder::Trail RecurrentDecoder::step_by_step(const Var& words, const Var& word_gates, const Source& source,
                                                       Training* training) const {
  AttentionStep how;
  if (training) how = {.random = &training->random, .update = training->update};
  DecoderState state = first_state(source);
  std::vector<Var> states, contexts, weights, pointed, asked, log_probability, entropy;
  for (int64_t t = 0; t < word_gates.dim(0); ++t) {
    const Var word = asks_word_ ? select(words, t) : Var();
    const Step one = step(word, select(word_gates, t), source, state, how);
    states.push_back(one.top);
    if (keeps_contexts()) contexts.push_back(one.context);
    if (one.weights.defined()) weights.push_back(one.weights);
    if (one.pointed.defined()) pointed.push_back(one.pointed);
    if (!one.log_probability.defined()) continue;
    asked.push_back(one.asked.detach());
    log_probability.push_back(one.log_probability);
    entropy.push_back(one.entropy);
  }
  Trail trail;
  trail.states = stack(states);
  if (!contexts.empty()) trail.contexts = stack(contexts);
  if (!weights.empty()) trail.weights = stack(weights, 1);
  if (!pointed.empty()) trail.pointed = stack(pointed, 1);
  if (!log_probability.empty()) {
    trail.asked = stack(asked);
    trail.log_probability = concat(log_probability, 1);
    trail.entropy = concat(entropy, 1);
  }
  return trail;
}

/// Query after: all states query at once, and what they read is combined with them.
void RecurrentDecoder::attend_at_once(const Var& words, const Source& source, Training* training, Trail& trail) const {
  AttentionStep how;
  if (training) how = {.random = &training->random, .update = training->update};
  const bool needed = losses().needs_weights();
  how.weights = needed || copying_;
  how.given = source.given.first(trail.states.dim(0));
  trail.asked = query(trail.states, words);
  const auto by_row = [&](const Var& x) { return source.share ? source.share->to_sequences(x) : x; };
  const Var asked = transpose(trail.asked, 0, 1);
  const AttentionRead read = (*attention_)(source.share ? source.share->to_slots(asked) : asked, source.memory, how);
  Var context = transpose(by_row(read.context), 0, 1);
  if (gate_) context = multiply(context, sigmoid((*gate_)(trail.states)));
  if (keeps_contexts()) trail.contexts = context;
  trail.states = (*combine_)(concat(std::array{context, trail.states}, 2));
  if (needed) trail.weights = by_row(mean_head(read.weights));
  if (copying_) trail.pointed = by_row(mean_head(read.undropped));
  if (!read.log_probability.defined()) return;
  const int64_t N = trail.asked.dim(1), T = trail.asked.dim(0);
  trail.log_probability = reshape(by_row(over_heads(read.log_probability)), {N, T});
  trail.entropy = reshape(by_row(over_heads(read.entropy)), {N, T});
}

/// The same if no step needs what an earlier one has read: every product over all steps at once.
RecurrentDecoder::Trail RecurrentDecoder::all_steps(const Var& words, const Var& word_gates, const Source& source,
                                                    Training* training) const {
  const int64_t T = word_gates.dim(0), N = word_gates.dim(1);
  Trail trail;
  Var gates = word_gates;
  if (context_weight_.defined()) {
    Tensor when = Tensor::zeros({T, 1, 1});
    std::fill_n(when.data(), input_ == InputKind::first_step ? 1 : T, real{1});
    if (reads_out_contexts()) trail.contexts = multiply(reshape(source.summary, {1, N, context_}), when);
    const Var summary = reshape(linear(source.summary, context_weight_, {}), {1, N, gates.dim(2)});
    gates = add(multiply(summary, when), gates);
  }
  const DecoderState state = first_state(source);
  trail.states = recurrence(cell_, std::move(gates), state_weight_, candidate_bias_, state.layers[0]).y;
  for (size_t i = 0; i < upper_.size(); ++i) {
    trail.states = upper_[i].sequence(dropout_(trail.states, random_of(training)), state.layers[i + 1]).y;
  }
  if (input_ == InputKind::attention) attend_at_once(words, source, training, trail);
  return trail;
}

Var RecurrentDecoder::readout(const Var& states, const Var& contexts, const Var& words, Random* training) const {
  if (readout_ == Readout::joint && !after_) {
    std::vector<Var> parts{states};
    if (contexts.defined()) parts.push_back(contexts);
    parts.push_back(words);
    return (*output_)(dropout_(concat(parts, -1), training));
  }
  const Var said = dropout_(states, training);
  if (readout_ != Readout::deep) return (*output_)(said);
  Var deep = (*state_output_)(said);
  if (context_output_) deep = add(deep, (*context_output_)(contexts));
  return (*output_)(dropout_(tanh(add(deep, words)), training));
}

Prediction RecurrentDecoder::predict(const Ids& inputs, const Memory& memory, Training* training) const {
  const auto& source = dynamic_cast<const Source&>(memory);
  Random* random = random_of(training);
  const Var words = dropout_(words_(inputs), random);
  const Var gates = linear(words, word_weight_, bias_);
  Trail trail =
      needs_steps() ? step_by_step(words, gates, source, training) : all_steps(words, gates, source, training);
  Prediction said{.logits = readout(trail.states, trail.contexts, words, random)};
  if (copying_) {
    said.mixture = {.logits = said.logits,
                    .gate = (*copying_)(trail.contexts, trail.states, words),
                    .weights = trail.pointed,
                    .words = source.copied.ids,
                    .by_time = true};
    said.words = source.copied.words;
  }
  said.trail = std::move(trail);
  return said;
}

std::unique_ptr<State> RecurrentDecoder::begin(const Encoded& encoded) const {
  auto hypotheses = std::make_unique<Hypotheses>();
  hypotheses->source = read_source(encoded, {});
  hypotheses->state = first_state(*hypotheses->source);
  hypotheses->source->last.clear();
  hypotheses->joins = input_ != InputKind::first_step && !hypotheses->source->given.any();
  if (attention_) hypotheses->joins &= looks_the_same_at_every_step(attention_->config());
  return hypotheses;
}

Tensor RecurrentDecoder::next(State& state, std::span<const int32_t> last) const {
  auto& hypotheses = dynamic_cast<Hypotheses&>(state);
  const int64_t N = static_cast<int64_t>(last.size()), rows = hypotheses.state.layers[0].h.dim(0);
  require(rows == N, "next: expected one id for each of ", rows, " hypotheses, got ", N);
  const Var words = words_(Ids({N}, {last.begin(), last.end()}));
  const Step one = step(words, linear(words, word_weight_, bias_), *hypotheses.source, hypotheses.state, {});
  const Var logits = readout(one.top, one.context, words, nullptr);
  if (!copying_) return logits.value();
  const CopiedWords& copied = hypotheses.source->copied;
  const CopyMixture mixture{.logits = reshape(logits, {N, 1, vocabulary()}),
                            .gate = (*copying_)(one.context, one.top, words),
                            .weights = reshape(one.pointed, {N, 1, one.pointed.dim(1)}),
                            .words = copied.ids};
  return copy_log_probabilities(mixture, copied.words).reshape({N, copied.words});
}

}  // namespace attend::models
