#include "attend/models/captioner.h"

#include <algorithm>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"
#include "attend/nn/initial.h"

namespace attend::models {

/// Several rows that read one image, as queries to the same memory: slots [images · each], some of them empty where images
/// have different numbers of rows.
struct Captioner::Sharing {
  int64_t images = 0, each = 0;
  std::vector<int32_t> row_in;   // of each slot; row 0 in empty ones
  std::vector<int32_t> slot_of;  // of each row
  bool in_order = true;          // row n is slot n: nothing has to be moved

  Sharing(int64_t images, std::span<const int32_t> image_of) : images(images) {
    std::vector<int32_t> count(static_cast<size_t>(images), 0);
    std::vector<int32_t> place;
    for (const int32_t image : image_of) place.push_back(count[static_cast<size_t>(image)]++);
    each = *std::ranges::max_element(count);
    row_in.assign(static_cast<size_t>(images * each), 0);
    for (size_t n = 0; n < image_of.size(); ++n) {
      slot_of.push_back(image_of[n] * static_cast<int32_t>(each) + place[n]);
      row_in[static_cast<size_t>(slot_of[n])] = static_cast<int32_t>(n);
      in_order = in_order && slot_of[n] == static_cast<int32_t>(n);
    }
    in_order = in_order && slot_of.size() == row_in.size();
  }
  /// [N,W] → [images,each,W].
  Var to_slots(const Var& rows) const {
    return reshape(in_order ? rows : take_rows(rows, row_in), {images, each, rows.dim(1)});
  }
  /// [images,each,W] → [N,W].
  Var to_rows(const Var& slots) const {
    const Var flat = reshape(slots, {images * each, slots.dim(2)});
    return in_order ? flat : take_rows(flat, slot_of);
  }
};

/// What the decoder may know of the images of N rows.
struct Captioner::Source {
  Var summary;                           // [N,D]
  AttentionMemory memory;                // of the images or, unless they are shared, of the rows
  std::shared_ptr<const Sharing> share;  // none: one image for each row
};

struct Captioner::DecoderState {
  RecurrentState state;
  Var coverage;  // [N,cells]
  int64_t position = 0;
};

/// What one step says, each [N,·].
struct Captioner::Step {
  Var top, context, weights, asked, log_probability, entropy;
};

struct Captioner::Trail : AttentionTrail {
  Var states;    // [T,N,H]
  Var contexts;  // [T,N,context_]
};

struct Captioner::Prediction {
  Var logits;
  Trail trail;
};

struct Captioner::Memory : State {
  Source source;
  DecoderState state;

  void take(std::span<const int32_t> rows) override {
    source.summary = take_rows(source.summary, rows);
    if (source.memory.rows() > 0) source.memory.take(rows);
    state.state.h = take_rows(state.state.h, rows);
    state.state.c = take_rows(state.state.c, rows);
    state.coverage = take_rows(state.coverage, rows);
  }
};

Captioner::Captioner(const CaptionerOptions& options, Random& random)
    : options_(options),
      encoder_(make_image_encoder(options.encoder, random)),
      words_(require_size("target_vocabulary", options.target_vocabulary), require_size("embedding", options.embedding),
             random),
      cell_(nn::cell_named(options.cell)),
      dropout_(static_cast<real>(options.dropout)) {
  const std::string_view reads[] = {"attention", "mean"};
  if (std::ranges::find(reads, options.read) == std::end(reads)) refuse_name("read", reads, options.read);
  const std::string_view queries[] = {"state", "state_word"};
  if (std::ranges::find(queries, options.query) == std::end(queries)) refuse_name("query", queries, options.query);
  const int64_t E = options.embedding, H = require_size("hidden", options.hidden), D = encoder_->output_size(),
                width = static_cast<int64_t>(kernels::gates_of(cell_)) * H;
  context_ = D;
  if (options.read == "attention") {
    require(image_encoder_row(options.encoder.kind).grid, "read: attention wants an encoder with a grid; encoder.kind ",
            options.encoder.kind, " has none");
    AttentionConfig config = options.attention;
    config.query = options.query == "state" ? H : H + E, config.key = config.value = D;
    // Queries and cells have widths of their own: a dot product then wants its keys projected.
    if (score_named(config.score).equal_widths && config.query != D && config.query_projection == "none" &&
        config.key_projection == "none") {
      config.key_projection = "linear";
    }
    attention_ = std::make_unique<Attention>(config, random, "decoder.memory");
    context_ = attention_->context_size();
    if (options.gate) gate_ = std::make_unique<nn::Linear>(H, 1, random);
    if (config.align == "sample") reinforce_ = std::make_unique<Reinforce>(options.reinforce, config.query, random);
  }
  const auto weight = [&](int64_t in) { return Var::leaf(nn::initial("glorot", {width, in}, random)); };
  word_weight_ = weight(E);
  Tensor bias = Tensor::zeros({width});
  if (cell_ == Cell::lstm) std::fill_n(bias.data() + H, H, real{1});
  bias_ = Var::leaf(bias);
  context_weight_ = weight(context_);
  state_weight_ = Var::leaf(nn::initial("orthogonal", {width, H}, random));
  if (cell_ == Cell::gru) candidate_bias_ = Var::leaf(Tensor::zeros({H}));
  for (int i = 0; i < (cell_ == Cell::lstm ? 2 : 1); ++i) initial_.emplace_back(D, H, random, true, Activation::tanh);
  if (options.deep_output) {
    state_output_ = std::make_unique<nn::Linear>(H, E, random);
    context_output_ = std::make_unique<nn::Linear>(context_, E, random, false);
  }
  output_ = std::make_unique<nn::Linear>(options.deep_output ? E : H, options.target_vocabulary, random);
}

Captioner::~Captioner() = default;

AttentionLosses Captioner::losses() const {
  return {.doubly_stochastic = attention_ ? options_.doubly_stochastic : 0, .reinforce = reinforce_.get()};
}

/// True if rows of one image may ask as queries of one call: nothing in it looks at a query's place.
bool Captioner::shares_memory() const {
  const AttentionConfig& config = attention_->config();
  return config.window == "none" && !score_named(config.score).by_place && !config.coverage;
}

void Captioner::set_align(const std::string& name) {
  require(attention_ != nullptr, "Captioner: only one that reads by attention has an align");
  require(name != "sample" || reinforce_, "Captioner: only a network that was made with align sample has what ",
          "REINFORCE learns; make it with attention.align sample and change the align afterwards");
  attention_->set_align(name);
}

void Captioner::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", *encoder_);
  nn::visit_part(visit, "words", words_);
  visit("decoder.word_weight", word_weight_);
  visit("decoder.bias", bias_);
  visit("decoder.context_weight", context_weight_);
  visit("decoder.state_weight", state_weight_);
  if (candidate_bias_.defined()) visit("decoder.candidate_bias", candidate_bias_);
  for (size_t i = 0; i < initial_.size(); ++i) nn::visit_part(visit, "initial." + std::to_string(i), initial_[i]);
  if (attention_) nn::visit_part(visit, "attention", *attention_);
  if (gate_) nn::visit_part(visit, "gate", *gate_);
  if (state_output_) nn::visit_part(visit, "state_output", *state_output_);
  if (context_output_) nn::visit_part(visit, "context_output", *context_output_);
  nn::visit_part(visit, "output", *output_);
  if (reinforce_) nn::visit_part(visit, "reinforce", *reinforce_);
}

Captioner::Source Captioner::encode(const data::Sequences& source, std::span<const int32_t> image_of,
                                    Training* training) const {
  const ImageEncoderOptions& o = options_.encoder;
  const Tensor& images = require_images("Captioner", source, o.channels, o.height, o.width);
  const EncodedImages encoded = (*encoder_)(images, training);
  Source result;
  result.summary = image_of.empty() ? encoded.summary : take_rows(encoded.summary, image_of);
  if (!attention_) return result;
  const bool shared = !image_of.empty() && shares_memory();
  if (shared) result.share = std::make_shared<const Sharing>(images.dim(0), image_of);
  const Var cells = image_of.empty() || shared ? encoded.grid : take_rows(encoded.grid, image_of);
  result.memory = attention_->prepare(cells, cells);
  return result;
}

Captioner::DecoderState Captioner::first_state(const Source& source) const {
  DecoderState first;
  first.state.h = initial_[0](source.summary);
  if (initial_.size() > 1) first.state.c = initial_[1](source.summary);
  return first;
}

/// What hₜ₋₁, or hₜ₋₁ and the word after it, reads of the image, through the gate βₜ.
Captioner::Step Captioner::attend_to(const Source& source, const Var& word, const DecoderState& state,
                                     const AttentionStep& how) const {
  const Var& h = state.state.h;
  const Var query = options_.query == "state" ? h : concat(std::vector{h, word}, 1);
  const int64_t N = query.dim(0), Q = query.dim(1);
  AttentionStep asked = how;
  asked.position = state.position;
  asked.coverage = state.coverage;
  asked.weights = options_.attention.coverage || losses().want_weights();
  const auto by_row = [&](const Var& x) {  // [·,each,W] → [N,W]
    return source.share ? source.share->to_rows(x) : reshape(x, {N, x.dim(2)});
  };
  const Var queries = source.share ? source.share->to_slots(query) : reshape(query, {N, 1, Q});
  const AttentionRead read = (*attention_)(queries, source.memory, asked);
  Step result;
  result.context = by_row(read.context);
  if (gate_) result.context = multiply(result.context, sigmoid((*gate_)(h)));
  if (asked.weights) result.weights = by_row(mean(read.weights, 1));
  if (read.log_probability.defined()) {
    const auto summed = [&](const Var& x) { return by_row(reshape(sum(x, 1), {x.dim(0), x.dim(2), 1})); };
    result.asked = query;
    result.log_probability = summed(read.log_probability);
    result.entropy = summed(read.entropy);
  }
  return result;
}

Captioner::Step Captioner::step(const Var& word, const Var& word_gates, const Source& source, DecoderState& state,
                                const AttentionStep& how) const {
  Step result;
  if (attention_) {
    result = attend_to(source, word, state, how);
  } else {
    result.context = source.summary;
  }
  if (options_.attention.coverage && attention_) {
    state.coverage = state.coverage.defined() ? add(state.coverage, result.weights) : result.weights;
  }
  Var gates = add(linear(result.context, context_weight_, {}), word_gates);
  const int64_t N = gates.dim(0), width = gates.dim(1);
  state.state =
      recurrence(cell_, reshape(std::move(gates), {1, N, width}), state_weight_, candidate_bias_, state.state).last;
  result.top = state.state.h;
  ++state.position;
  return result;
}

Captioner::Trail Captioner::step_by_step(const Var& words, const Var& word_gates, const Source& source,
                                         Training* training) const {
  AttentionStep how;
  if (training) how = {.random = &training->random, .update = training->update};
  DecoderState state = first_state(source);
  std::vector<Var> states, contexts, weights, asked, log_probability, entropy;
  for (int64_t t = 0; t < word_gates.dim(0); ++t) {
    const Step one = step(select(words, t), select(word_gates, t), source, state, how);
    states.push_back(one.top);
    contexts.push_back(one.context);
    if (one.weights.defined()) weights.push_back(one.weights);
    if (one.log_probability.defined()) {
      asked.push_back(one.asked.detach());
      log_probability.push_back(one.log_probability);
      entropy.push_back(one.entropy);
    }
  }
  Trail trail;
  trail.states = stack(states);
  trail.contexts = stack(contexts);
  if (!weights.empty()) trail.weights = stack(weights, 1);
  if (!log_probability.empty()) {
    trail.asked = stack(asked);
    trail.log_probability = concat(log_probability, 1);
    trail.entropy = concat(entropy, 1);
  }
  return trail;
}

/// Without attention no step needs what an earlier one has read: every product over all steps at once.
Captioner::Trail Captioner::all_steps(const Var& word_gates, const Source& source) const {
  const int64_t T = word_gates.dim(0), N = word_gates.dim(1), width = word_gates.dim(2);
  Trail trail;
  trail.contexts = add(reshape(source.summary, {1, N, context_}), Tensor::zeros({T, 1, 1}));
  const Var told = reshape(linear(source.summary, context_weight_, {}), {1, N, width});
  trail.states = recurrence(cell_, add(told, word_gates), state_weight_, candidate_bias_, first_state(source).state).y;
  return trail;
}

Var Captioner::readout(const Var& states, const Var& contexts, const Var& words, Random* training) const {
  const Var said = dropout_(states, training);
  if (!state_output_) return (*output_)(said);
  const Var deep = tanh(add(add((*state_output_)(said), (*context_output_)(contexts)), words));
  return (*output_)(dropout_(deep, training));
}

/// Logits [T,N,V] of what follows each of `inputs` [T,N].
Captioner::Prediction Captioner::predict(const Ids& inputs, const Source& source, Training* training) const {
  Random* random = training ? &training->random : nullptr;
  const Var words = dropout_(words_(inputs), random);
  const Var gates = linear(words, word_weight_, bias_);
  Trail trail = attention_ ? step_by_step(words, gates, source, training) : all_steps(gates, source);
  Var logits = readout(trail.states, trail.contexts, words, random);
  return {std::move(logits), std::move(trail)};
}

Var Captioner::logits(const data::Batch& batch) const {
  data::require_sources("Captioner", batch);
  const Source source = encode(batch.source, batch.image_of, nullptr);
  return predict(data::transposed(data::decoder_inputs(batch.target)), source, nullptr).logits;
}

Var Captioner::loss(const data::Batch& batch, Training* training) const {
  const Ids targets = data::transposed(data::decoder_targets(batch));
  if (!training) return cross_entropy(logits(batch), targets);
  data::require_sources("Captioner", batch);
  require(
      !attention_ || align_named(attention_->config().align).trains, "Captioner: align ",
      attention_ ? attention_->config().align : "",
      " cannot be trained, as no gradient flows through it; train with sample, gumbel or softmax and change the align "
      "afterwards");
  const Source source = encode(batch.source, batch.image_of, training);
  Ids inputs = data::transposed(data::decoder_inputs(batch.target));
  if (training->own_words > 0) {
    const TapePause pause;
    const Var guesses = predict(inputs, source, nullptr).logits;
    inputs =
        with_own_words(inputs, guesses.value(), batch.target.lengths.size(), training->own_words, training->random);
  }
  const auto [said, trail] = predict(inputs, source, training);
  const Var loss = cross_entropy(said, targets, {.smoothing = static_cast<real>(options_.label_smoothing)});
  const Var more = losses()(trail, said, targets, batch.target.lengths, {});
  return more.defined() ? add(loss, more) : loss;
}

std::unique_ptr<State> Captioner::begin(const data::Sequences& source) const {
  const TapePause pause;
  auto memory = std::make_unique<Memory>();
  memory->source = encode(source, {}, nullptr);
  memory->state = first_state(memory->source);
  return memory;
}

Tensor Captioner::next(State& state, std::span<const int32_t> last) const {
  const TapePause pause;
  auto& memory = dynamic_cast<Memory&>(state);
  const int64_t N = static_cast<int64_t>(last.size()), rows = memory.state.state.h.dim(0);
  require(rows == N, "Captioner::next: one id for each of ", rows, " hypotheses is wanted, got ", N);
  const Var words = words_(Ids({N}, {last.begin(), last.end()}));
  const Step one = step(words, linear(words, word_weight_, bias_), memory.source, memory.state, {});
  return readout(one.top, one.context, words, nullptr).value();
}

}  // namespace attend::models
