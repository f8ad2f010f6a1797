#include "attend/models/glimpse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/ready_state.h"
#include "attend/models/rows.h"
#include "attend/models/source_images.h"

namespace attend::models {
namespace {

constexpr CoreRow kCores[] = {
    {"relu", "h' = max(0, W g + U h + b)"}, {"tanh", "h' = tanh(W g + U h + b)"}, {"lstm", "an lstm cell"}};

/// ln of the mean over copies of p: log p [copies·B,V] → [B,V].
Tensor mean_of_copies(const Tensor& log_p, int64_t copies) {
  if (copies == 1) return log_p;
  const int64_t size = static_cast<int64_t>(log_p.size()) / copies;
  Tensor mean({log_p.dim(0) / copies, log_p.dim(1)});
  for (int64_t i = 0; i < size; ++i) {
    double sum = 0;
    for (int64_t m = 0; m < copies; ++m) sum += std::exp(static_cast<double>(log_p.data()[m * size + i]));
    mean.data()[i] = static_cast<real>(std::log(std::max(sum / static_cast<double>(copies), 1e-30)));
  }
  return mean;
}

Ids repeated_labels(const Ids& labels, int64_t copies) {
  std::vector<int32_t> all;
  for (int64_t m = 0; m < copies; ++m) all.insert(all.end(), labels.values.begin(), labels.values.end());
  return Ids({copies * labels.shape[0]}, std::move(all));
}

/// These are no part of the weights: nothing else bounds the time and memory that a look takes.
void require_repetitions(const char* what, int64_t count) {
  constexpr int64_t kMost = 1000;
  require(require_size(what, count) <= kMost, what, ": expected at most ", kMost, ", got ", count);
}

void check_copies_in_use(const EyeOptions& eye, int64_t copies) {
  require_repetitions("copies_in_use", copies);
  require_option(eye.policy != "tiles" || copies == 1, "copies_in_use",
                 "expected with policy tiles 1, as the likeliest tile is taken; got ", copies);
}

}  // namespace

std::span<const CoreRow> cores() { return kCores; }

GlimpseCore::GlimpseCore(std::string_view kind, int64_t in, int64_t hidden, Random& random) {
  row_named("core", kCores, kind);
  if (kind == "lstm") {
    lstm_ = std::make_unique<nn::RecurrentCell>(Cell::lstm, in, hidden, random);
  } else {
    const Activation f = kind == "relu" ? Activation::relu : Activation::tanh;
    plain_ = std::make_unique<nn::LinearPair>(in, hidden, hidden, random, f);
  }
}

RecurrentState GlimpseCore::operator()(const Var& x, const RecurrentState& before) const {
  return lstm_ ? (*lstm_)(x, before) : RecurrentState{(*plain_)(x, before.h), {}};
}

void GlimpseCore::params(const nn::VisitParams& visit) {
  if (lstm_) lstm_->params(visit);
  if (plain_) plain_->params(visit);
}

/// N = copies·B rows, T glances.
struct GlimpseNetwork::Episode {
  std::vector<Glance> glances;
  std::vector<Var> states;        // [N,H] after each glance
  std::vector<int32_t> glimpses;  // [N], how many each row takes
  std::vector<Tensor> stop;       // [N] probability of stopping after each glance
  Var first_features;             // [N,H], what the first glance was based on; undefined if it was not chosen
  Var last;                       // [N,H], each row's state when it stops

  /// A constant for each of `count` glances from `first` on and for each row: [count,N].
  template <class Value>
  Tensor table(int64_t first, Value value) const {
    const int64_t T = static_cast<int64_t>(glances.size()), N = static_cast<int64_t>(glimpses.size());
    Tensor all({T - first, N});
    for (int64_t i = 0; i < (T - first) * N; ++i) {
      all.data()[i] = static_cast<real>(value(first + i / N, glimpses[static_cast<size_t>(i % N)]));
    }
    return all;
  }
};

GlimpseNetwork::GlimpseNetwork(const GlimpseOptions& o, Random& random)
    : options_(o),
      stops_(reward_named(o.reward).stops),
      eye_(make_eye(o.eye, require_size("hidden", o.hidden), random)),
      core_(o.core, eye_->size(), o.hidden, random),
      output_(o.hidden, require_size("labels", o.labels), random) {
  require_repetitions("glimpses", o.glimpses);
  require_repetitions("copies", o.copies);
  check_copies_in_use(o.eye, o.copies_in_use);
  require(std::isfinite(o.cost) && std::isfinite(o.policy_weight) && o.policy_weight >= 0,
          "policy_weight: expected a finite number of at least 0, got ", o.policy_weight);
  if (stops_) stop_ = std::make_unique<nn::Linear>(o.hidden, 2, random);
  if (stops_ || eye_->learns()) reinforce_ = std::make_unique<Reinforce>(o.reinforce, o.hidden, random);
}

void GlimpseNetwork::params(const nn::VisitParams& visit) {
  eye_->params(visit);
  nn::visit_part(visit, "core", core_);
  nn::visit_part(visit, "output", output_);
  if (stop_) nn::visit_part(visit, "stop", *stop_);
  if (reinforce_) nn::visit_part(visit, "reinforce", *reinforce_);
}

Tensor GlimpseNetwork::require_images(const data::Source& source) const {
  const Tensor& images = source.pixels();
  require(images.defined() && images.rank() == 4 && images.size() > 0 && images.dim(1) == options_.eye.channels,
          "GlimpseNetwork: expected images [B,", options_.eye.channels, ",H,W], got ",
          images.defined() ? "" : "sequences without any", images.shape());
  return images;
}

/// Whether each row stops after its latest glance; all stop after the last one.
void GlimpseNetwork::decide(Episode& e, Dice& dice, bool last) const {
  const int32_t taken = static_cast<int32_t>(e.glances.size());
  const TapePause pause;
  const Tensor p = softmax((*stop_)(e.states.back().detach())).value();
  Tensor chance({p.dim(0)});
  for (int64_t n = 0; n < p.dim(0); ++n) {
    chance.data()[n] = p.data()[2 * n + 1];
    int32_t& glimpses = e.glimpses[static_cast<size_t>(n)];
    if (last || glimpses < taken) continue;
    const double threshold = dice.samples ? dice.rows[static_cast<size_t>(n)].uniform53() : 0.5;
    if (static_cast<double>(chance.data()[n]) > threshold) glimpses = taken;
  }
  e.stop.push_back(chance);
}

GlimpseNetwork::Episode GlimpseNetwork::episode(const Var& images, int64_t copies, Dice& dice,
                                                const Tensor& path) const {
  const int64_t T = path.defined() ? path.dim(0) : options_.glimpses, N = copies * images.dim(0);
  const std::unique_ptr<Looking> looking = eye_->begin(images, copies);
  Episode e;
  e.first_features = looking->first_features();
  e.glimpses.assign(static_cast<size_t>(N), static_cast<int32_t>(T));
  RecurrentState state;
  for (int64_t t = 0; t < T; ++t) {
    const Tensor given = path.defined() ? add(path.rows(t, t + 1), Tensor::zeros({N, 2})).value() : Tensor();
    e.glances.push_back(given.defined() ? looking->look_at(given) : looking->look(state.h, dice));
    state = core_(e.glances.back().seen, state);
    if (state.h.dim(0) < N) state = {repeated(state.h, copies), repeated(state.c, copies)};
    e.states.push_back(state.h);
    if (stops_) decide(e, dice, t + 1 == T);
  }
  e.last = state.h;
  if (!stops_) return e;
  std::vector<int32_t> rows;
  for (int64_t n = 0; n < N; ++n) {
    rows.push_back(static_cast<int32_t>((e.glimpses[static_cast<size_t>(n)] - 1) * N + n));
  }
  e.last = take_rows(reshape(stack(e.states), {T * N, options_.hidden}), rows);
  return e;
}

/// The choice before glance t counts if a row reached it; whether to stop before it is one choice, where to look
/// another.
Var GlimpseNetwork::policy_loss(const Episode& e, const Tensor& rewards) const {
  const int64_t first = eye_->chooses_first() ? 0 : 1, T = static_cast<int64_t>(e.glances.size()), A = T - first;
  if (!reinforce_ || A < 1 || options_.policy_weight == 0) return {};
  const int64_t N = rewards.dim(0), H = options_.hidden;
  std::vector<Var> before;  // what each choice was based on
  for (int64_t t = first; t < T; ++t) {
    const Var state = t > 0 ? e.states[static_cast<size_t>(t - 1)] : Var();
    if (t > 0) before.push_back(options_.cut ? state.detach() : state);
    if (t == 0) before.push_back(e.first_features.defined() ? e.first_features : Var(Tensor::zeros({N, H})));
  }
  const Var features = stack(before);
  EyeChoices chosen;
  if (eye_->learns()) chosen = eye_->choices(std::span(e.glances).subspan(static_cast<size_t>(first)), features);
  Var log_p = chosen.log_probability;
  Tensor counts = Tensor::full({A, N}, 1);
  if (stop_) {
    const Var decisions = log_softmax((*stop_)(features));
    const Tensor stopped = e.table(first, [](int64_t t, int32_t taken) { return t > 0 && taken == t; });
    std::vector<int32_t> ids(stopped.begin(), stopped.end());
    const Tensor decided = e.table(first, [](int64_t t, int32_t taken) { return t > 0 && taken >= t; });
    const Tensor looked = e.table(first, [](int64_t t, int32_t taken) { return taken > t; });
    counts = e.table(first, [](int64_t t, int32_t taken) { return taken >= t; });
    const Var stopping = multiply(gather(decisions, Ids({A, N}, std::move(ids))), decided);
    log_p = log_p.defined() ? add(multiply(log_p, looked), stopping) : stopping;
    if (chosen.entropy.defined()) chosen.entropy = multiply(chosen.entropy, looked);
  }
  Tensor returns = e.table(first, [&](int64_t t, int32_t taken) {
    return std::pow(options_.reinforce.discount, std::max<int64_t>(0, taken - 1 - t));
  });
  for (int64_t i = 0; i < A * N; ++i) returns.data()[i] *= rewards.data()[i % N];
  // The reward comes at the end, so every choice is an episode of one step with a known return.
  const auto column = [&](const Var& x) { return x.defined() ? reshape(x, {A * N, 1}) : x; };
  const Var loss = (*reinforce_)(returns.reshape({A * N, 1}), column(log_p), column(chosen.entropy),
                                 counts.reshape({A * N, 1}), reshape(features, {A * N, 1, H}));
  // Reinforce has divided by the number of choices made, which depends on them: A·N does not, so this is unbiased.
  const double made = std::accumulate(counts.begin(), counts.end(), 0.0);
  return affine(loss, static_cast<real>(options_.policy_weight * std::max(1.0, made) / static_cast<double>(A * N)));
}

GlimpseLoss GlimpseNetwork::losses(const data::Batch& batch, Training& training) const {
  require_same_count("GlimpseNetwork", batch);
  refuse_own_words("GlimpseNetwork", &training);
  const Tensor images = require_images(batch.source);
  const int64_t copies = options_.copies;
  const Ids labels = repeated_labels(labels_of("GlimpseNetwork", batch.target), copies);
  Dice dice = Dice::training(copies * images.dim(0), training.random, training.update);
  const Episode e = episode(images, copies, dice);
  const Var logits = output_(e.last);
  GlimpseLoss result;
  result.classification = cross_entropy(logits, labels);
  result.rewards = reward_named(options_.reward)
                       .reward({.log_probabilities = log_softmax(logits.detach()).value(),
                                .labels = labels.values,
                                .glimpses = e.glimpses,
                                .cost = options_.cost});
  require(result.rewards.shape() == Shape{static_cast<int64_t>(labels.size())}, "reward \"", options_.reward,
          "\": expected one number for each of ", labels.size(), " episodes, got ", result.rewards.shape());
  result.policy = policy_loss(e, result.rewards);
  return result;
}

Var GlimpseNetwork::loss(const data::Batch& batch, Training* training) const {
  if (training) {
    const GlimpseLoss parts = losses(batch, *training);
    return parts.policy.defined() ? add(parts.classification, parts.policy) : parts.classification;
  }
  require_same_count("GlimpseNetwork", batch);
  return cross_entropy(log_probabilities(batch.source), labels_of("GlimpseNetwork", batch.target));
}

Var GlimpseNetwork::log_probabilities(const data::Source& source) const {
  const Tensor images = require_images(source);
  const int64_t copies = options_.copies_in_use;
  Dice dice = Dice::of_images(images, copies, copies > 1, eye_->draws());
  const Var log_p = log_softmax(output_(episode(images, copies, dice).last));
  return copies == 1 ? log_p : Var(mean_of_copies(log_p.value(), copies));
}

Var GlimpseNetwork::logits(const data::Source& source) const {
  const Tensor images = require_images(source);
  Dice dice = Dice::of_images(images, 1, options_.copies_in_use > 1, eye_->draws());
  return output_(episode(SourceImages::pixels(images), 1, dice).last);
}

std::unique_ptr<State> GlimpseNetwork::begin(const data::Source& source) const {
  const TapePause pause;
  return ready_state(log_probabilities(source).value().reshape({source.count(), 1, options_.labels}));
}

Tensor GlimpseNetwork::next(State& state, std::span<const int32_t> last) const { return next_ready(state, last); }

void GlimpseNetwork::set_copies_in_use(int64_t copies) {
  check_copies_in_use(options_.eye, copies);
  options_.copies_in_use = copies;
}

std::vector<GlimpsePath> GlimpseNetwork::look(const Tensor& images, const Tensor& path) const {
  const TapePause pause;
  require(!path.defined() || (path.rank() == 2 && path.dim(0) >= 1 && path.dim(1) == 2),
          "look: expected a path [T,2], got ", path.shape());
  require_images(data::Source::of_images(images));
  Dice dice = Dice::of_images(images, 1, options_.copies_in_use > 1, eye_->draws());
  const Episode e = episode(images, 1, dice, path);
  const int64_t B = images.dim(0), T = static_cast<int64_t>(e.glances.size()), V = options_.labels;
  std::vector<GlimpsePath> paths(static_cast<size_t>(B));
  for (int64_t b = 0; b < B; ++b) {
    GlimpsePath& one = paths[static_cast<size_t>(b)];
    one.locations = Tensor({T, 2});
    one.probabilities = Tensor({T, V});
    if (stops_) one.stop = Tensor({T});
    one.tiles = eye_->tiles(images.dim(2), images.dim(3));
    const int64_t K = one.tiles.rows * one.tiles.columns;
    if (K > 0) one.tile_shares = Tensor({T, K}), one.tile_weights = Tensor({T, K});
    one.steps = e.glimpses[static_cast<size_t>(b)];
    for (int64_t j = 0; j < options_.eye.scales; ++j) {
      const EyeOptions& o = options_.eye;
      one.pixels.push_back(patch_pixels({.patch = o.patch, .scales = o.scales, .growth = o.growth}, j));
    }
  }
  for (int64_t t = 0; t < T; ++t) {
    const size_t i = static_cast<size_t>(t);
    const Tensor p = softmax(output_(e.states[i])).value();
    for (int64_t b = 0; b < B; ++b) {
      GlimpsePath& one = paths[static_cast<size_t>(b)];
      std::copy_n(e.glances[i].location.data() + 2 * b, 2, one.locations.data() + 2 * t);
      std::copy_n(p.data() + b * V, V, one.probabilities.data() + t * V);
      if (stops_) one.stop.data()[t] = e.stop[i].data()[b];
      const int64_t K = one.tiles.rows * one.tiles.columns;
      if (K == 0) continue;
      std::copy_n(e.glances[i].tile_shares.data() + b * K, K, one.tile_shares.data() + t * K);
      std::copy_n(e.glances[i].tile_weights.data() + b * K, K, one.tile_weights.data() + t * K);
    }
  }
  return paths;
}

}  // namespace attend::models
