#include "attend/autograd/ops/copy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/log_add.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/rows.h"

namespace attend {
namespace {

/// Weight of a place that a word is copied from, at least: its logarithm and its reciprocal are numbers.
constexpr double kLeastWeight = 1e-30;
// Weights per task: below this, one thread is done before another has started.
constexpr size_t kCopyGrain = size_t{16} << 10;

double log_sigmoid(double x) { return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); }
double sigmoid_of(double x) { return std::exp(log_sigmoid(x)); }

/// Where the rows of the logits have their weights and what these say.
struct Places {
  size_t N, T, S, V;
  bool by_time;

  size_t rows() const { return N * T; }
  size_t answer(size_t row) const { return by_time ? row % N : row / T; }
  size_t step(size_t row) const { return by_time ? row / N : row % T; }
  size_t weights(size_t row) const { return (answer(row) * T + step(row)) * S; }
  size_t words(size_t row) const { return answer(row) * S; }
};

Places places_of(const char* where, const CopyMixture& m) {
  require(m.weights.defined() && m.weights.rank() == 3 && m.logits.defined() && m.logits.rank() == 3 && m.gate.defined(),
          where, ": expected logits of rank 3, a gate and weights [N,T,S]");
  const int64_t N = m.weights.dim(0), T = m.weights.dim(1), S = m.weights.dim(2), V = m.logits.dim(2);
  const Shape rows = m.by_time ? Shape{T, N, V} : Shape{N, T, V};
  require(m.logits.shape() == rows, where, ": weights ", m.weights.shape(), " want logits ", rows, ", got ",
          m.logits.shape());
  require(static_cast<int64_t>(m.gate.size()) == N * T, where, ": expected a gate for each of ", N * T, " rows, got ",
          m.gate.shape());
  require(m.words.shape == Shape({N, S}), where, ": weights ", m.weights.shape(), " want words ", Shape{N, S}, ", got ",
          m.words.shape);
  return {static_cast<size_t>(N), static_cast<size_t>(T), static_cast<size_t>(S), static_cast<size_t>(V), m.by_time};
}

/// Σ a over the places that say a word.
double weight_of(const real* weights, const int32_t* words, size_t count, int32_t word) {
  double sum = 0;
  for (size_t s = 0; s < count; ++s) sum += words[s] == word ? static_cast<double>(weights[s]) : 0.0;
  return sum;
}

template <class Each>
void for_rows(const Places& places, Each&& each) {
  const size_t at_once = std::max<size_t>(1, kCopyGrain / std::max<size_t>(1, places.S));
  const size_t tasks = (places.rows() + at_once - 1) / at_once;
  kernels::parallel_for(tasks, [&](size_t task) {
    for (size_t r = task * at_once; r < std::min(places.rows(), (task + 1) * at_once); ++r) each(r);
  });
}

/// Of each row: −ln P(target), what the two ways of saying it contribute to P (their sum is one), and the weight of the
/// places that say it.
struct Targets {
  std::vector<int32_t> known;  // targets within the vocabulary; −1: none
  Tensor losses, said, copied, weights, log_sums;
};

Targets targets_of(const char* where, const CopyMixture& m, const Places& places, const Ids& targets, int32_t ignored) {
  require(targets.size() == places.rows(), where, ": expected ", places.rows(), " targets, got ", targets.shape);
  const int64_t rows = static_cast<int64_t>(places.rows());
  Targets all{std::vector<int32_t>(targets.size(), -1), Tensor::zeros({rows}), Tensor::zeros({rows}),
              Tensor::zeros({rows}), Tensor::zeros({rows}), Tensor({rows})};
  for (size_t r = 0; r < targets.size(); ++r) {
    const int32_t target = targets.values[r];
    if (target == ignored) continue;
    require(target >= 0, where, ": expected targets from 0 on or ", ignored, " (ignored), got ", target);
    if (static_cast<size_t>(target) < places.V) all.known[r] = target;
  }
  Tensor entropies({rows});
  kernels::cross_entropy(
      {.logits = m.logits.value().data(), .targets = all.known.data(), .rows = places.rows(), .n = places.V},
      entropies.data(), all.log_sums.data());
  for_rows(places, [&](size_t r) {
    const int32_t target = targets.values[r];
    if (target == ignored) return;
    const double gate = static_cast<double>(m.gate.value().data()[r]);
    double weight = weight_of(m.weights.value().data() + places.weights(r), m.words.values.data() + places.words(r),
                              places.S, target);
    const bool known = all.known[r] >= 0;
    if (!known) weight = std::max(weight, kLeastWeight);
    const double by_word = known ? log_sigmoid(gate) - static_cast<double>(entropies.data()[r]) : kLogZero;
    const double by_copy = weight > 0 ? log_sigmoid(-gate) + std::log(weight) : kLogZero;
    const double both = log_add(by_word, by_copy);
    all.losses.data()[r] = static_cast<real>(-both);
    all.said.data()[r] = static_cast<real>(std::exp(by_word - both));
    all.copied.data()[r] = static_cast<real>(std::exp(by_copy - both));
    all.weights.data()[r] = static_cast<real>(weight);
  });
  return all;
}

}  // namespace

Var copy_loss(const CopyMixture& m, const Ids& targets, int32_t ignored) {
  const Places places = places_of("copy_loss", m);
  Targets of = targets_of("copy_loss", m, places, targets, ignored);
  const auto counted = std::ranges::count_if(targets.values, [&](int32_t target) { return target != ignored; });
  const real scale = counted > 0 ? real{1} / static_cast<real>(counted) : 0;
  Tensor loss = Tensor::scalar(kernels::sum(of.losses.data(), places.rows()) * scale);
  if (!recording(m.logits, m.gate, m.weights)) return loss;
  of.losses = {};
  return record(std::move(loss), [logits = m.logits.slot(), gate = m.gate.slot(), weights = m.weights.slot(),
                                  x = m.logits.value(), g = m.gate.value(), shape = m.weights.shape(), words = m.words,
                                  ids = targets.values, ignored, places, of, scale](Tensor dy) {
    const real by = dy.item() * scale;
    if (logits.needed()) {
      Tensor dx(x.shape());
      kernels::cross_entropy_backward({.logits = x.data(),
                                       .targets = of.known.data(),
                                       .rows = places.rows(),
                                       .n = places.V,
                                       .weights = of.said.data()},
                                      of.log_sums.data(), by, dx.data());
      logits.add(std::move(dx));
    }
    if (gate.needed()) {  // ∂/∂g = copied·p − said·(1 − p)
      Tensor dg(g.shape());
      for (size_t r = 0; r < places.rows(); ++r) {
        const double p = sigmoid_of(static_cast<double>(g.data()[r])), q = sigmoid_of(-static_cast<double>(g.data()[r]));
        const double said = static_cast<double>(of.said.data()[r]), copied = static_cast<double>(of.copied.data()[r]);
        dg.data()[r] = by * static_cast<real>(copied * p - said * q);
      }
      gate.add(std::move(dg));
    }
    if (!weights.needed()) return;
    Tensor da(shape);  // ∂/∂aₛ = −copied / Σ a
    for_rows(places, [&](size_t r) {
      real* to = da.data() + places.weights(r);
      const int32_t *said = words.values.data() + places.words(r), target = ids[r];
      const bool counts = target != ignored && of.weights.data()[r] > 0;
      const real slope = counts ? -by * of.copied.data()[r] / of.weights.data()[r] : 0;
      for (size_t s = 0; s < places.S; ++s) to[s] = counts && said[s] == target ? slope : 0;
    });
    weights.add(std::move(da));
  });
}

Tensor copy_log_probabilities(const CopyMixture& m, int64_t words) {
  const Places places = places_of("copy_log_probabilities", m);
  const size_t W = static_cast<size_t>(words);
  require(W >= places.V, "copy_log_probabilities: expected at least ", places.V, " words, got ", words);
  for (const int32_t word : m.words.values) {
    require(word < words, "copy_log_probabilities: expected copies of words below ", words, ", got ", word);
  }
  Shape shape = m.logits.shape();
  Tensor known(shape);
  kernels::log_softmax(m.logits.value().data(), places.rows(), places.V, {}, known.data());
  Tensor all({shape[0], shape[1], words});
  for_rows(places, [&](size_t r) {
    const double gate = static_cast<double>(m.gate.value().data()[r]);
    const real *from = known.data() + r * places.V, *weights = m.weights.value().data() + places.weights(r);
    const int32_t* said = m.words.values.data() + places.words(r);
    real* to = all.data() + r * W;
    const real by_word = static_cast<real>(log_sigmoid(gate));
    for (size_t w = 0; w < places.V; ++w) to[w] = from[w] + by_word;
    std::fill(to + places.V, to + W, -std::numeric_limits<real>::infinity());
    std::vector<std::pair<int32_t, double>> copied;  // each word once, with the weights of all places that say it
    for (size_t s = 0; s < places.S; ++s) {
      if (said[s] >= 0) copied.emplace_back(said[s], static_cast<double>(weights[s]));
    }
    std::ranges::stable_sort(copied, {}, &std::pair<int32_t, double>::first);
    for (size_t i = 0; i < copied.size();) {
      const int32_t word = copied[i].first;
      double weight = 0;
      for (; i < copied.size() && copied[i].first == word; ++i) weight += copied[i].second;
      if (weight > 0) {
        to[word] = static_cast<real>(log_add(static_cast<double>(to[word]), log_sigmoid(-gate) + std::log(weight)));
      }
    }
  });
  return all;
}

Tensor copied_shares(const CopyMixture& m, const Ids& targets, int32_t ignored) {
  const Places places = places_of("copied_shares", m);
  return targets_of("copied_shares", m, places, targets, ignored).copied.reshape(targets.shape);
}

}  // namespace attend
