#include "attend/models/given_weights.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend::models {
namespace {

/// A place of the source and one of the answer, one after the other.
struct PlacePair {
  int32_t source, target;
};

std::vector<PlacePair> pairs_of(const std::vector<int32_t>& ids) {
  require(ids.size() % 2 == 0, "Source: expected pairs of places as the links of an answer, got ", ids.size(),
          " numbers");
  std::vector<PlacePair> pairs;
  for (size_t i = 0; i < ids.size(); i += 2) pairs.push_back({ids[i], ids[i + 1]});
  return pairs;
}

/// Each step's weight shared equally among the places that its token is linked to; nothing where there are none: [B,T,S].
Tensor weights_of_links(const data::Sequences& links, int64_t places) {
  int32_t last = 0;
  std::vector<std::vector<PlacePair>> all;
  for (int64_t b = 0; b < links.count(); ++b) {
    all.push_back(pairs_of(links.row(b)));
    for (const PlacePair& pair : all.back()) {
      require(pair.source >= 0 && pair.source < places && pair.target >= 0, "Source: expected links to places below ",
              places, ", got ", pair.source, "-", pair.target);
      last = std::max(last, pair.target);
    }
  }
  const int64_t T = last + 1;
  Tensor weights = Tensor::zeros({links.count(), T, places});
  for (size_t b = 0; b < all.size(); ++b) {
    std::vector<int> shared(static_cast<size_t>(T), 0);
    for (const PlacePair& pair : all[b]) ++shared[static_cast<size_t>(pair.target)];
    for (const PlacePair& pair : all[b]) {
      const int64_t row = static_cast<int64_t>(b) * T + pair.target;
      weights.data()[row * places + pair.source] += 1 / static_cast<real>(shared[static_cast<size_t>(pair.target)]);
    }
  }
  return weights;
}

}  // namespace

GivenWeights::GivenWeights(const data::Source& source, int64_t places) {
  const data::Part* given = source.given();
  if (!given) return;
  if (!given->values.defined()) {
    weights_ = weights_of_links(given->ids, places), after_ = 0;
    return;
  }
  require(given->values.dim(2) == places, "Source: expected given weights of ", places, " places, got ",
          given->values.shape());
  weights_ = given->values;
}

void GivenWeights::take(std::span<const int32_t> rows) {
  if (!any()) return;
  const int64_t each = weights_.dim(1) * weights_.dim(2);
  Tensor taken({static_cast<int64_t>(rows.size()), weights_.dim(1), weights_.dim(2)});
  for (size_t n = 0; n < rows.size(); ++n) {
    std::copy_n(weights_.data() + rows[n] * each, each, taken.data() + static_cast<int64_t>(n) * each);
  }
  weights_ = std::move(taken);
}

void GivenWeights::fill_step(int64_t row, int64_t step, real* to) const {
  const int64_t T = weights_.dim(1), S = weights_.dim(2);
  if (step < T) {
    std::copy_n(weights_.data() + (row * T + step) * S, S, to);
  } else {
    std::fill_n(to, S, after_);
  }
}

Tensor GivenWeights::first(int64_t steps) const {
  if (!any()) return {};
  const int64_t N = weights_.dim(0), S = weights_.dim(2);
  Tensor some({N, steps, S});
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t t = 0; t < steps; ++t) fill_step(n, t, some.data() + (n * steps + t) * S);
  }
  return some;
}

Tensor GivenWeights::at(int64_t step) const {
  if (!any()) return {};
  const int64_t N = weights_.dim(0), S = weights_.dim(2);
  Tensor one({N, 1, S});
  for (int64_t n = 0; n < N; ++n) fill_step(n, step, one.data() + n * S);
  return one;
}

}  // namespace attend::models
