#include "attend/models/tagger.h"

#include <algorithm>
#include <numeric>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/models/rows.h"

namespace attend::models {

Tagger::Tagger(const TaggerOptions& options, Random& random)
    : Labeller("Tagger", make_encoder(options.encoder, random), options.labels, options.dropout) {
  const int64_t stride = encoder_->sizes().stride;
  require_option(stride <= 1, "encoder.kind",
                 "expected an encoder with a place for each frame, as each gets a label, got ",
                 "one that makes one of ", stride, "; set encoder.front to none and encoder.pyramid to 0");
  make_output(encoder_->output_size(), random);
  require_one_of("output", {"softmax", "crf"}, options.output);
  if (options.output == "crf") crf_ = std::make_unique<nn::Crf>(options.labels);
}

void Tagger::params(const nn::VisitParams& visit) {
  Labeller::params(visit);
  if (crf_) nn::visit_part(visit, "crf", *crf_);
}

Var Tagger::features(const data::Source& source, Training* training) const {
  require_not_empty(name_, source);
  return (*encoder_)(source, training).states;
}

Var Tagger::loss_of(const Var& emissions, const data::Batch& batch, bool) const {
  require(batch.source.lengths() == batch.target.lengths,
          "Tagger: expected one label for each place of the source, got sequences of other lengths");
  if (crf_) return field_loss(emissions, batch);
  Ids targets = batch.target.ids;
  const size_t T = static_cast<size_t>(batch.target.longest());
  for (size_t i = 0; i < targets.size(); ++i) {
    if (i % T >= static_cast<size_t>(batch.target.lengths[i / T])) targets.values[i] = -1;
  }
  data::count_only(batch, targets);
  return cross_entropy(emissions, targets);
}

/// For a whole batch the mean over its places. For one place t of each sequence −ln p(yₜ | y₀ … yₜ₋₁), where what
/// follows is unknown.
Var Tagger::field_loss(const Var& emissions, const data::Batch& batch) const {
  const std::vector<int32_t>& lengths = batch.target.lengths;
  if (batch.only.empty()) {
    const int64_t places = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    return affine(sum(crf_->loss(emissions, batch.target.ids, lengths)), 1 / static_cast<real>(places));
  }
  require(batch.only.size() == lengths.size(), "Batch::only: expected one place for each of ", lengths.size(),
          " pairs, got ", batch.only.size());
  const auto known = [&](int32_t more) {  // the tags before the places that count, and `more` of them
    Ids tags = batch.target.ids;
    const size_t T = static_cast<size_t>(batch.target.longest());
    for (size_t i = 0; i < tags.size(); ++i) {
      if (static_cast<int64_t>(i % T) >= batch.only[i / T] + more) tags.values[i] = -1;
    }
    return tags;
  };
  return mean(crf_->loss(emissions, known(1), lengths, known(0)));
}

struct Tagger::FieldState : State {
  Tensor emissions, outlook;  // [sources,T,L]
  std::vector<int32_t> lengths;
  std::vector<int32_t> source_of;  // by hypothesis
  int64_t step = 0;
  void take(std::span<const int32_t> rows) override { source_of = taken(source_of, rows); }
};

std::unique_ptr<State> Tagger::begin(const data::Source& source) const {
  if (!crf_) return Labeller::begin(source);
  const TapePause pause;
  Tensor scores = logits(source).value();
  auto state = std::make_unique<FieldState>();
  state->outlook = crf_->outlook(scores, source.lengths());
  state->emissions = std::move(scores);
  state->lengths = source.lengths();
  state->source_of.resize(state->lengths.size());
  std::iota(state->source_of.begin(), state->source_of.end(), 0);
  return state;
}

Tensor Tagger::next(State& state, std::span<const int32_t> last) const {
  if (!crf_) return Labeller::next(state, last);
  auto& field = dynamic_cast<FieldState&>(state);
  const int64_t T = field.outlook.dim(1), L = field.outlook.dim(2);
  require(last.size() == field.source_of.size(), "next: expected one id for each of ", field.source_of.size(),
          " hypotheses, got ", last.size());
  require(field.step < T, "next: there are ", T, " answers, and all have been given");
  Tensor logits({static_cast<int64_t>(last.size()), L});
  for (size_t n = 0; n < last.size(); ++n) {
    const real* onward = crf_->onward(field.step == 0 ? -1 : last[n]);
    const real* outlook = field.outlook.data() + (field.source_of[n] * T + field.step) * L;
    std::transform(onward, onward + L, outlook, logits.data() + static_cast<int64_t>(n) * L, std::plus<>());
  }
  ++field.step;
  return logits;
}

std::vector<std::vector<BestAnswer>> Tagger::best(const State& state, int64_t count) const {
  if (!crf_ || count > 1) return {};
  const auto& field = dynamic_cast<const FieldState&>(state);
  std::vector<std::vector<BestAnswer>> answers;
  for (std::vector<int32_t>& tags : crf_->best(field.emissions, field.lengths)) {
    answers.emplace_back().push_back({std::move(tags)});
  }
  return answers;
}

}  // namespace attend::models
