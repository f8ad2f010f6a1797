#include "attend/models/labeller.h"

#include <algorithm>
#include <limits>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/kernels/rows.h"
#include "attend/models/ctc_prefix.h"
#include "attend/models/ready.h"
#include "attend/models/rows.h"
#include "attend/nn/initial.h"

namespace attend::models {

Classifier::Classifier(const ClassifierOptions& options, Random& random)
    : options_(options), encoder_(make_encoder(options.encoder, random)) {
  const std::string_view poolings[] = {"last", "attention"};
  if (std::ranges::find(poolings, options.pooling) == std::end(poolings)) {
    refuse_name("pooling", poolings, options.pooling);
  }
  int64_t width = encoder_->output_size();
  if (options.pooling == "attention") {
    AttentionConfig config = options.attention;
    config.query = config.key = width;
    attention_ = std::make_unique<Attention>(config, random, "pooling");
    query_ = Var::leaf(nn::initial("normal", {1, width}, random));
    width = attention_->context_size();
  }
  output_ = std::make_unique<nn::Linear>(width, require_size("labels", options.labels), random);
}

void Classifier::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", *encoder_);
  if (attention_) {
    nn::visit_part(visit, "attention", *attention_);
    visit("query", query_);
  }
  nn::visit_part(visit, "output", *output_);
}

Var Classifier::logits(const data::Sequences& source, Training* training) const {
  require_not_empty("Classifier", source);
  const Encoded encoded = (*encoder_)(source, training);
  if (!attention_) return (*output_)(encoded.summary);
  AttentionStep how;
  if (training) how = {.random = &training->random, .update = training->update};
  const int64_t B = source.count(), Q = query_.dim(1);
  const Var queries = add(reshape(query_, {1, 1, Q}), Tensor::zeros({B, 1, 1}));
  const AttentionMemory memory = attention_->prepare(encoded.states, encoded.states, source.lengths);
  return (*output_)(reshape((*attention_)(queries, memory, how).context, {B, attention_->context_size()}));
}

Var Classifier::loss(const data::Batch& batch, Training* training) const {
  require_same_count("Classifier", batch);
  refuse_own_words("Classifier", training);
  return cross_entropy(logits(batch.source, training), labels_of("Classifier", batch.target));
}

std::unique_ptr<State> Classifier::begin(const data::Sequences& source) const {
  const TapePause pause;
  return ready_state(logits(source, nullptr).value().reshape({source.count(), 1, options_.labels}));
}

Tensor Classifier::next(State& state, std::span<const int32_t> last) const { return next_ready(state, last); }

Tagger::Tagger(const TaggerOptions& options, Random& random)
    : options_(options),
      encoder_(make_encoder(options.encoder, random)),
      output_(encoder_->output_size(), require_size("labels", options.labels), random) {}

void Tagger::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", *encoder_);
  nn::visit_part(visit, "output", output_);
}

Var Tagger::loss(const data::Batch& batch, Training* training) const {
  require_same_count("Tagger", batch);
  refuse_own_words("Tagger", training);
  require_not_empty("Tagger", batch.source);
  require(batch.source.lengths == batch.target.lengths,
          "Tagger: one label for each input is wanted, got other lengths");
  Ids targets = batch.target.ids;
  const size_t T = static_cast<size_t>(batch.target.longest());
  for (size_t i = 0; i < targets.size(); ++i) {
    if (i % T >= static_cast<size_t>(batch.target.lengths[i / T])) targets.values[i] = -1;
  }
  data::count_only(batch, targets);
  return cross_entropy(output_((*encoder_)(batch.source, training).states), targets);
}

std::unique_ptr<State> Tagger::begin(const data::Sequences& source) const {
  const TapePause pause;
  require_not_empty("Tagger", source);
  return ready_state(output_((*encoder_)(source, nullptr).states).value());
}

Tensor Tagger::next(State& state, std::span<const int32_t> last) const { return next_ready(state, last); }

CtcModel::CtcModel(const TaggerOptions& options, Random& random)
    : options_(options),
      encoder_(make_encoder(options.encoder, random)),
      output_(encoder_->output_size(), require_size("labels", options.labels), random) {
  require(options.labels > data::kEnd, "CtcModel: more labels than the reserved ones are wanted, got ", options.labels);
}

void CtcModel::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", *encoder_);
  nn::visit_part(visit, "output", output_);
}

Var CtcModel::loss(const data::Batch& batch, Training* training) const {
  require(batch.only.empty(), "CtcModel: a loss of whole sequences is wanted; its places cannot be told apart");
  require_same_count("CtcModel", batch);
  refuse_own_words("CtcModel", training);
  require_not_empty("CtcModel", batch.source);
  const Var logits = transpose(output_((*encoder_)(batch.source, training).states), 0, 1);
  std::vector<std::vector<int32_t>> targets;
  for (int64_t b = 0; b < batch.target.count(); ++b) targets.push_back(batch.target.row(b));
  return ctc_loss(logits, batch.source.lengths, targets, {.blank = data::kPad});
}

Tensor CtcModel::frames(const data::Sequences& source) const {
  const TapePause pause;
  require_not_empty("CtcModel", source);
  return output_((*encoder_)(source, nullptr).states).value();
}

namespace {

struct CtcState : State {
  std::vector<std::shared_ptr<const CtcPrefix>> sources;  // by hypothesis
  std::vector<CtcPrefix::State> prefixes;
  bool begun = false;
  void take(std::span<const int32_t> rows) override {
    sources = taken(sources, rows);
    prefixes = taken(prefixes, rows);
  }
};

}  // namespace

std::unique_ptr<State> CtcModel::begin(const data::Sequences& source) const {
  const Tensor logits = frames(source);
  auto state = std::make_unique<CtcState>();
  for (int64_t b = 0; b < source.count(); ++b) {
    const Tensor one = logits[b].rows(0, source.lengths[static_cast<size_t>(b)]);
    state->sources.push_back(std::make_shared<const CtcPrefix>(one, data::kPad));
    state->prefixes.push_back(state->sources.back()->begin());
  }
  return state;
}

Tensor CtcModel::next(State& state, std::span<const int32_t> last) const {
  auto& ctc = dynamic_cast<CtcState&>(state);
  require(last.size() == ctc.prefixes.size(), "CtcModel::next: one id for each of ", ctc.prefixes.size(),
          " hypotheses is wanted, got ", last.size());
  Tensor out({static_cast<int64_t>(last.size()), options_.labels});
  for (size_t n = 0; n < last.size(); ++n) {
    if (ctc.begun) ctc.prefixes[n] = ctc.sources[n]->advance(ctc.prefixes[n], last[n]);
    std::vector<double> scores = ctc.sources[n]->scores(ctc.prefixes[n]);
    std::swap(scores[data::kEnd], scores[data::kPad]);  // the end stands in the blank's place
    for (size_t v = 0; v < scores.size(); ++v) {
      // A label that cannot follow has −∞: finite, so that a softmax over the row stays one.
      out.data()[n * scores.size() + v] = static_cast<real>(std::max(scores[v], double{kernels::kMaskedLog}));
    }
  }
  ctc.begun = true;
  return out;
}

}  // namespace attend::models
