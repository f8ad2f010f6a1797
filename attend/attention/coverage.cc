#include "attend/attention/coverage.h"

#include <algorithm>
#include <numeric>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"

namespace attend {
namespace {

void require_weights(const char* where, const Var& weights) {
  require(weights.defined() && weights.rank() == 3, where, ": expected weights [B,T,S], got ", weights.shape());
}

/// x [B,N,..] with everything past lengths[b] on axis 1 set to zero.
Var within(const char* where, const Var& x, std::span<const int32_t> lengths) {
  if (lengths.empty()) return x;
  require(static_cast<int64_t>(lengths.size()) == x.dim(0), where, ": expected one length for each of ", x.dim(0),
          " sequences, got ", lengths.size());
  Shape shape{x.dim(0), x.dim(1)};
  if (x.rank() == 3) shape.append(1);
  Tensor mask = Tensor::zeros(shape);
  for (size_t b = 0; b < lengths.size(); ++b) {
    require(lengths[b] >= 0 && lengths[b] <= x.dim(1), where, ": lengths must be in [0, ", x.dim(1), "], got ",
            lengths[b]);
    std::fill_n(mask.data() + b * static_cast<size_t>(x.dim(1)), lengths[b], real{1});
  }
  return multiply(x, mask);
}

/// total / (number of steps that count), for weights [B,T,S].
Var per_step(const Var& total, const Var& weights, std::span<const int32_t> target_lengths) {
  const int64_t steps = target_lengths.empty()
                            ? weights.dim(0) * weights.dim(1)
                            : std::accumulate(target_lengths.begin(), target_lengths.end(), int64_t{0});
  return affine(total, 1 / static_cast<real>(std::max<int64_t>(1, steps)));
}

}  // namespace

Var coverage_before(const Var& weights) {
  require_weights("coverage_before", weights);
  const int64_t T = weights.dim(1);
  Tensor earlier = Tensor::zeros({T, T});  // row t: 1 for the steps before t
  for (int64_t t = 0; t < T; ++t) std::fill_n(earlier.data() + t * T, t, real{1});
  return transpose(linear(transpose(weights, 1, 2), earlier, {}), 1, 2);
}

Var coverage_penalty(const Var& weights, std::span<const int32_t> target_lengths) {
  const Var before = coverage_before(weights);
  const Var least = subtract(weights, relu(subtract(weights, before)));  // min(a, c)
  return per_step(sum(within("coverage_penalty", least, target_lengths)), weights, target_lengths);
}

Var doubly_stochastic_penalty(const Var& weights, std::span<const int32_t> target_lengths,
                              std::span<const int32_t> source_lengths) {
  require_weights("doubly_stochastic_penalty", weights);
  const Var read = sum(within("doubly_stochastic_penalty", weights, target_lengths), 1);  // [B,S]
  const Var left = within("doubly_stochastic_penalty", affine(read, -1, 1), source_lengths);
  return per_step(sum(multiply(left, left)), weights, target_lengths);
}

}  // namespace attend
