#include "attend/models/recurrent.h"

#include <algorithm>
#include <array>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"
#include "attend/models/source_words.h"
#include "attend/nn/initial.h"

namespace attend::models {
namespace {

constexpr DecoderInputRow kInputs[] = {
    {"every_step", "the encoder's last state enters every update", "Cho et al. 2014"},
    {"first_step", "the encoder's last state enters the first update", ""},
    {"initial_state", "s₀ = the encoder's last state", "Sutskever et al. 2014"},
    {"bridge", "s₀ = tanh(W·last state)", "Bahdanau et al. 2015, A.2.2"},
    {"reread", "the input is read again for every word, beside the decoder's state", ""},
    {"attention", "cₜ = Σ αₜⱼ hⱼ", "Bahdanau et al. 2015; Luong et al. 2015"},
};

/// Every sequence's last states side by side: [B, directions·H].
Var joined(const std::vector<Var>& parts) { return parts.size() == 1 ? parts[0] : concat(parts, -1); }

}  // namespace

std::span<const DecoderInputRow> decoder_inputs() { return kInputs; }

/// What the decoder may know of B sources.
struct RecurrentModel::Source {
  std::vector<RecurrentState> last;  // of the top layer, forward before backward; all layers for initial_state
  Var summary;                       // [B, directions·H]
  AttentionMemory memory;            // attention
  Var words;                         // [S,B,E], reread
  std::vector<int32_t> lengths;
};

/// What the decoder carries from step to step.
struct RecurrentModel::DecoderState {
  std::vector<RecurrentState> layers;
  Var feed;      // [N,H], the last attentional vector
  Var coverage;  // [N,S]
  int64_t position = 0;
};

/// What one step says, each [N,·].
struct RecurrentModel::Step {
  Var top, context, weights, asked, log_probability, entropy;
};

/// What all steps say. With the query after the update, states are attentional vectors.
struct RecurrentModel::Trail : AttentionTrail {
  Var states;    // [T,B,H]
  Var contexts;  // [T,B,·]
};

struct RecurrentModel::Prediction {
  Var logits;
  Trail trail;
};

struct RecurrentModel::Memory : State {
  Source source;
  DecoderState state;

  void take(std::span<const int32_t> rows) override {
    source.summary = take_rows(source.summary, rows);
    if (source.words.defined()) source.words = transpose(take_rows(transpose(source.words, 0, 1), rows), 0, 1);
    source.lengths = taken(source.lengths, rows);
    if (source.memory.rows() > 0) source.memory.take(rows);
    for (RecurrentState& layer : state.layers) {
      layer.h = take_rows(layer.h, rows);
      layer.c = take_rows(layer.c, rows);
    }
    state.feed = take_rows(state.feed, rows);
    state.coverage = take_rows(state.coverage, rows);
  }
};

RecurrentModel::RecurrentModel(const RecurrentModelOptions& options, Random& random)
    : options_(options),
      told_(static_cast<Told>(&row_named("decoder.input", kInputs, options.decoder.input) - kInputs)),
      after_(options.decoder.query == "after"),
      feeding_(options.decoder.feeding),
      source_words_(require_size("source_vocabulary", options.source_vocabulary), options.embedding, random),
      target_words_(require_size("target_vocabulary", options.target_vocabulary), options.embedding, random),
      encoder_({.cell = nn::cell_named(options.cell),
                .input = options.embedding,
                .hidden = options.hidden,
                .layers = options.layers,
                .bidirectional = options.bidirectional,
                .dropout = static_cast<real>(options.dropout)},
               random),
      cell_(nn::cell_named(options.cell)) {
  const std::string_view query[] = {"before", "after"};
  if (std::ranges::find(query, options.decoder.query) == std::end(query)) {
    refuse_name("decoder.query", query, options.decoder.query);
  }
  require(!feeding_ || (after_ && told_ == Told::attention),
          "decoder.feeding: input feeding wants decoder.input attention and decoder.query after, got ",
          options.decoder.input, " and ", options.decoder.query);
  const int64_t E = options.embedding, H = options.hidden, width = static_cast<int64_t>(kernels::gates_of(cell_)) * H;
  summary_ = (options.bidirectional ? 2 : 1) * H;
  if (told_ == Told::attention) {
    AttentionConfig config = options.attention;
    config.query = H, config.key = config.value = summary_;
    // An encoder that reads both ways is wider than the decoder: a dot product then wants its keys projected.
    if (score_named(config.score).equal_widths && config.query != config.key && config.query_projection == "none" &&
        config.key_projection == "none") {
      config.key_projection = "linear";
    }
    attention_ = std::make_unique<Attention>(config, random, "decoder.memory");
    context_ = attention_->context_size();
    if (config.align == "sample") reinforce_ = std::make_unique<Reinforce>(options.reinforce, H, random);
  } else if (told_ == Told::reread) {
    rereader_ = std::make_unique<nn::Recurrent>(
        nn::RecurrentOptions{
            .cell = cell_, .input = E + H, .hidden = H, .layers = 1, .bidirectional = options.bidirectional},
        random);
    context_ = summary_;
  } else if (told_ == Told::every_step || told_ == Told::first_step) {
    context_ = summary_;
  }
  require(told_ == Told::attention || !after_, "decoder.query: only attention asks after the update, got input ",
          options.decoder.input);
  const auto weight = [&](int64_t in) { return Var::leaf(nn::initial("glorot", {width, in}, random)); };
  word_weight_ = weight(E);
  Tensor bias = Tensor::zeros({width});
  if (cell_ == Cell::lstm) std::fill_n(bias.data() + H, H, real{1});
  bias_ = Var::leaf(bias);
  if (context_ > 0 && !after_) context_weight_ = weight(context_);
  if (feeding_) feed_weight_ = weight(H);
  state_weight_ = Var::leaf(nn::initial("orthogonal", {width, H}, random));
  if (cell_ == Cell::gru) candidate_bias_ = Var::leaf(Tensor::zeros({H}));
  for (int64_t layer = 1; layer < options.layers; ++layer) upper_.emplace_back(cell_, H, H, random);
  if (told_ == Told::bridge || told_ == Told::reread || told_ == Told::attention) {
    const int64_t states = options.layers * (cell_ == Cell::lstm && told_ == Told::bridge ? 2 : 1);
    for (int64_t i = 0; i < states; ++i) bridge_.emplace_back(summary_, H, random, true, Activation::tanh);
  }
  if (after_) combine_ = std::make_unique<nn::Linear>(context_ + H, H, random, false, Activation::tanh);
  output_ = std::make_unique<nn::Linear>(after_ ? H : H + context_ + E, options.target_vocabulary, random);
}

RecurrentModel::~RecurrentModel() = default;

AttentionLosses RecurrentModel::losses() const {
  return {options_.coverage_penalty, options_.doubly_stochastic, reinforce_.get()};
}

void RecurrentModel::set_align(const std::string& name) {
  require(attention_ != nullptr, "RecurrentModel: only a decoder with attention has an align");
  require(name != "sample" || reinforce_, "RecurrentModel: only a network that was made with align sample has what ",
          "REINFORCE learns; make it with attention.align sample and change the align afterwards");
  attention_->set_align(name);
}

void RecurrentModel::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "source_words", source_words_);
  nn::visit_part(visit, "target_words", target_words_);
  nn::visit_part(visit, "encoder", encoder_);
  visit("decoder.word_weight", word_weight_);
  visit("decoder.bias", bias_);
  if (context_weight_.defined()) visit("decoder.context_weight", context_weight_);
  if (feed_weight_.defined()) visit("decoder.feed_weight", feed_weight_);
  visit("decoder.state_weight", state_weight_);
  if (candidate_bias_.defined()) visit("decoder.candidate_bias", candidate_bias_);
  for (size_t i = 0; i < upper_.size(); ++i) nn::visit_part(visit, "decoder." + std::to_string(i + 1), upper_[i]);
  for (size_t i = 0; i < bridge_.size(); ++i) nn::visit_part(visit, "bridge." + std::to_string(i), bridge_[i]);
  if (attention_) nn::visit_part(visit, "attention", *attention_);
  if (rereader_) nn::visit_part(visit, "rereader", *rereader_);
  if (combine_) nn::visit_part(visit, "combine", *combine_);
  nn::visit_part(visit, "output", *output_);
  if (reinforce_) nn::visit_part(visit, "reinforce", *reinforce_);
}

Var RecurrentModel::dropped(const Var& x, Random* training) const {
  return training ? dropout(x, static_cast<real>(options_.dropout), *training) : x;
}

RecurrentModel::Source RecurrentModel::encode(const data::Sequences& source, Random* training) const {
  require_not_empty("RecurrentModel", source);
  const Var words = dropped(SourceWords::seen(source_words_(source.by_time()), true), training);
  const nn::Recurrent::Output encoded = encoder_(words, source.lengths, {}, training);
  const size_t directions = options_.bidirectional ? 2 : 1;
  Source result;
  result.last = encoded.last;
  result.lengths = source.lengths;
  std::vector<Var> top;
  for (size_t d = 0; d < directions; ++d) top.push_back(encoded.last[encoded.last.size() - directions + d].h);
  result.summary = joined(top);
  if (told_ == Told::reread) result.words = words;
  if (attention_) {
    const Var memory = transpose(encoded.y, 0, 1);
    result.memory = attention_->prepare(memory, memory, source.lengths);
  }
  return result;
}

RecurrentModel::DecoderState RecurrentModel::first_state(const Source& source) const {
  const size_t layers = static_cast<size_t>(options_.layers), directions = options_.bidirectional ? 2 : 1;
  DecoderState state;
  state.layers.resize(layers);
  const bool lstm = cell_ == Cell::lstm;
  for (size_t i = 0; i < layers; ++i) {
    RecurrentState& layer = state.layers[i];
    if (!bridge_.empty()) {
      layer.h = bridge_[i](source.summary);
      if (lstm && bridge_.size() > layers) layer.c = bridge_[layers + i](source.summary);
    } else if (told_ == Told::initial_state) {
      // Both directions have read everything; the decoder's width is that of one, so they are added.
      const RecurrentState& forward = source.last[i * directions];
      const RecurrentState& backward = source.last[i * directions + directions - 1];
      layer.h = directions == 1 ? forward.h : add(forward.h, backward.h);
      if (lstm) layer.c = directions == 1 ? forward.c : add(forward.c, backward.c);
    } else {
      layer.h = Tensor::zeros({source.summary.dim(0), options_.hidden});
    }
    if (lstm && !layer.c.defined()) layer.c = Tensor::zeros({source.summary.dim(0), options_.hidden});
  }
  return state;
}

/// The last states of reading [word; state] anew: [B, directions·H].
Var RecurrentModel::reread(const Source& source, const Var& state) const {
  const int64_t S = source.words.dim(0), N = state.dim(0), H = state.dim(1);
  const Var beside = add(reshape(state, {1, N, H}), Tensor::zeros({S, 1, 1}));
  const nn::Recurrent::Output read = (*rereader_)(concat(std::array{source.words, beside}, 2), source.lengths);
  std::vector<Var> last;
  for (const RecurrentState& one : read.last) last.push_back(one.h);
  return joined(last);
}

RecurrentModel::Step RecurrentModel::step(const Var& word_gates, const Source& source, DecoderState& state,
                                          const AttentionStep& how) const {
  Step result;
  const int64_t N = word_gates.dim(0), width = word_gates.dim(1), H = options_.hidden;
  const auto attend_with = [&](const Var& query) {
    AttentionStep asked = how;
    asked.position = state.position;
    asked.coverage = state.coverage;
    asked.weights = options_.attention.coverage || losses().want_weights();
    const AttentionRead read = (*attention_)(reshape(query, {N, 1, H}), source.memory, asked);
    result.context = reshape(read.context, {N, context_});
    result.asked = query;
    result.log_probability = read.log_probability;
    result.entropy = read.entropy;
    if (asked.weights) {
      const int64_t S = read.weights.dim(3);
      result.weights = reshape(mean(read.weights, 1), {N, S});
      if (options_.attention.coverage) {
        state.coverage = state.coverage.defined() ? add(state.coverage, result.weights) : result.weights;
      }
    }
  };
  Var gates = word_gates;
  if (told_ == Told::every_step || (told_ == Told::first_step && state.position == 0)) result.context = source.summary;
  if (told_ == Told::first_step && state.position > 0) result.context = Tensor::zeros({N, context_});
  if (told_ == Told::reread) result.context = reread(source, state.layers.back().h);
  if (told_ == Told::attention && !after_) attend_with(state.layers.back().h);
  if (context_weight_.defined()) gates = add(linear(result.context, context_weight_, {}), gates);
  if (feeding_ && state.feed.defined()) gates = add(linear(state.feed, feed_weight_, {}), gates);
  state.layers[0] =
      recurrence(cell_, reshape(std::move(gates), {1, N, width}), state_weight_, candidate_bias_, state.layers[0]).last;
  for (size_t i = 0; i < upper_.size(); ++i) {
    state.layers[i + 1] = upper_[i](dropped(state.layers[i].h, how.random), state.layers[i + 1]);
  }
  result.top = state.layers.back().h;
  if (after_) {
    attend_with(result.top);
    result.top = (*combine_)(concat(std::array{result.context, result.top}, 1));
    if (feeding_) state.feed = result.top;
  }
  ++state.position;
  return result;
}

/// True if a step needs what an earlier one has read.
bool RecurrentModel::needs_steps() const {
  if (told_ == Told::reread || feeding_) return true;
  return told_ == Told::attention && (!after_ || options_.attention.coverage);
}

RecurrentModel::Trail RecurrentModel::step_by_step(const Var& word_gates, const Source& source, DecoderState state,
                                                   Training* training) const {
  const int64_t T = word_gates.dim(0), B = word_gates.dim(1);
  AttentionStep how;
  if (training) how = {.random = &training->random, .update = training->update};
  std::vector<Var> states, contexts, weights, asked, log_probability, entropy;
  for (int64_t t = 0; t < T; ++t) {
    Step one = step(select(word_gates, t), source, state, how);
    states.push_back(one.top);
    if (!after_ && one.context.defined()) contexts.push_back(one.context);
    if (one.weights.defined()) weights.push_back(one.weights);
    if (one.log_probability.defined()) {
      asked.push_back(one.asked.detach());
      log_probability.push_back(reshape(sum(one.log_probability, 1), {B, 1}));
      entropy.push_back(reshape(sum(one.entropy, 1), {B, 1}));
    }
  }
  Trail trail;
  trail.states = stack(states);
  if (!contexts.empty()) trail.contexts = stack(contexts);
  if (!weights.empty()) trail.weights = stack(weights, 1);
  if (!log_probability.empty()) {
    trail.asked = stack(asked);
    trail.log_probability = concat(log_probability, 1);
    trail.entropy = concat(entropy, 1);
  }
  return trail;
}

/// The same where no step needs what an earlier one has read: every product over all steps at once.
RecurrentModel::Trail RecurrentModel::all_steps(const Var& word_gates, const Source& source, DecoderState state,
                                                Training* training) const {
  const int64_t T = word_gates.dim(0), B = word_gates.dim(1);
  Random* random = training ? &training->random : nullptr;
  Trail trail;
  Var gates = word_gates;
  if (context_weight_.defined()) {
    Tensor when = Tensor::zeros({T, 1, 1});
    std::fill_n(when.data(), told_ == Told::first_step ? 1 : T, real{1});
    const Var told = multiply(reshape(source.summary, {1, B, context_}), when);
    trail.contexts = told;
    gates = add(multiply(reshape(linear(source.summary, context_weight_, {}), {1, B, gates.dim(2)}), when), gates);
  }
  trail.states = recurrence(cell_, std::move(gates), state_weight_, candidate_bias_, state.layers[0]).y;
  for (size_t i = 0; i < upper_.size(); ++i) {
    trail.states = upper_[i].sequence(dropped(trail.states, random), state.layers[i + 1]).y;
  }
  if (told_ != Told::attention) return trail;
  AttentionStep how;
  if (training) how = {.random = random, .update = training->update};
  how.weights = losses().want_weights();
  const AttentionRead read = (*attention_)(transpose(trail.states, 0, 1), source.memory, how);
  trail.asked = trail.states;
  trail.states = (*combine_)(concat(std::array{transpose(read.context, 0, 1), trail.states}, 2));
  if (how.weights) trail.weights = mean(read.weights, 1);
  if (read.log_probability.defined()) {
    trail.log_probability = sum(read.log_probability, 1);
    trail.entropy = sum(read.entropy, 1);
  }
  return trail;
}

Var RecurrentModel::readout(const Var& states, const Var& contexts, const Var& words, Random* training) const {
  if (after_) return (*output_)(dropped(states, training));
  std::vector<Var> parts{states};
  if (contexts.defined()) parts.push_back(contexts);
  parts.push_back(words);
  return (*output_)(dropped(concat(parts, -1), training));
}

/// Logits [T,B,V] of what follows each of `inputs` [T,B].
RecurrentModel::Prediction RecurrentModel::predict(const Ids& inputs, const Source& source, Training* training) const {
  Random* random = training ? &training->random : nullptr;
  const Var words = dropped(target_words_(inputs), random);
  const Var gates = linear(words, word_weight_, bias_);
  Trail trail = needs_steps() ? step_by_step(gates, source, first_state(source), training)
                              : all_steps(gates, source, first_state(source), training);
  Var logits = readout(trail.states, trail.contexts, words, random);
  return {std::move(logits), std::move(trail)};
}

Var RecurrentModel::loss(const data::Batch& batch, Training* training) const {
  require_same_count("RecurrentModel", batch);
  require(!training || !attention_ || align_named(attention_->config().align).trains, "RecurrentModel: align ",
          attention_ ? attention_->config().align : "",
          " cannot be trained, as no gradient flows through it; train with "
          "sample, gumbel or softmax and change the align afterwards");
  Random* random = training ? &training->random : nullptr;
  const Source source = encode(batch.source, random);
  Ids inputs = data::transposed(data::decoder_inputs(batch.target));
  if (training && training->own_words > 0) {
    const TapePause pause;
    const Var guesses = predict(inputs, source, nullptr).logits;
    inputs = with_own_words(inputs, guesses.value(), batch.source.lengths.size(), training->own_words, *random);
  }
  const Ids targets = data::transposed(data::decoder_targets(batch));
  const auto [logits, trail] = predict(inputs, source, training);
  if (!training) return cross_entropy(logits, targets);
  const Var loss = cross_entropy(logits, targets, {.smoothing = static_cast<real>(options_.label_smoothing)});
  const Var more = losses()(trail, logits, targets, batch.target.lengths, source.lengths);
  return more.defined() ? add(loss, more) : loss;
}

std::unique_ptr<State> RecurrentModel::begin(const data::Sequences& source) const {
  const TapePause pause;
  auto memory = std::make_unique<Memory>();
  memory->source = encode(source, nullptr);
  memory->state = first_state(memory->source);
  memory->source.last.clear();
  return memory;
}

Tensor RecurrentModel::next(State& state, std::span<const int32_t> last) const {
  const TapePause pause;
  auto& memory = dynamic_cast<Memory&>(state);
  const int64_t N = static_cast<int64_t>(last.size());
  require(memory.state.layers[0].h.dim(0) == N, "RecurrentModel::next: one id for each of ",
          memory.state.layers[0].h.dim(0), " hypotheses is wanted, got ", N);
  const Var words = target_words_(Ids({N}, {last.begin(), last.end()}));
  const Step one = step(linear(words, word_weight_, bias_), memory.source, memory.state, {});
  return std::as_const(*this).readout(one.top, one.context, words, nullptr).value();
}

}  // namespace attend::models
