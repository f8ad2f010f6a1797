// Attention while decoding: one query per row, over a source or over what has been said so far.
#include <algorithm>
#include <limits>
#include <map>

#include "attend/attention/attention.h"
#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/attention_rows.h"

namespace attend {

AttentionRead Attention::by_row(const Var& q, const AttentionMemory& memory, const AttentionStep& step) const {
  const int64_t N = memory.rows(), Tk = memory.keys();
  if (memory.index_.empty()) {
    memory.counts_ = memory.lengths();
    memory.counts_.resize(static_cast<size_t>(N), static_cast<int32_t>(Tk));
    for (int64_t n = 0; n < N; ++n) {
      const int64_t source = memory.source_of_.empty() ? n : memory.source_of_[static_cast<size_t>(n)];
      for (int64_t j = 0; j < Tk; ++j) memory.index_.push_back(static_cast<int32_t>(source * Tk + j));
    }
  }
  const size_t H = static_cast<size_t>(config_.heads);
  const kernels::RowAttention problem{.rows = static_cast<size_t>(N),
                                      .heads = H,
                                      .depth = static_cast<size_t>(q.dim(2)) / H,
                                      .scale = scale(),
                                      .q = q.value().data(),
                                      .keys = memory.keys_.value().data(),
                                      .values = memory.values_.value().data(),
                                      .index = memory.index_.data(),
                                      .stride = static_cast<size_t>(Tk),
                                      .counts = memory.counts_.data()};
  Tensor context(q.shape()), weights;
  if (Observing::active()) weights = Tensor({N, config_.heads, 1, Tk});
  kernels::attention_rows(problem, context.data(), weights.data());
  if (weights.defined()) tell(weights, {}, memory.lengths(), step.position);
  return finished({.context = context});
}

AttentionRead Attention::operator()(const Var& queries, const Var& keys, const Var& values, AttentionCache& cache,
                                    std::span<const uint8_t> active) const {
  const int64_t N = queries.defined() && queries.rank() == 3 ? queries.dim(0) : 0;
  const auto one_each = [&](const Var& x, int64_t width) { return x.defined() && x.shape() == Shape{N, 1, width}; };
  require(one_each(queries, config_.query) && one_each(keys, config_.key) && one_each(values, config_.value),
          "Attention: expected one query, key and value per row with a cache, [N,1,", config_.query, "], [N,1,",
          config_.key, "] and [N,1,", config_.value, "], got ", queries.shape(), ", ", keys.shape(), " and ",
          values.shape());
  require(!needs_previous(config_), "Attention: expected a score and a window that do without the weights of the step ",
          "before with a cache, got ", config_.score, " and ", config_.window);
  const TapePause pause;
  cache.append(key_(keys).value(), value_(values).value(), active);
  const Var q = query_(queries);
  return fused_ && !Intervening::active() ? by_row(q, cache) : composed(q, cache);
}

/// The cache holds nothing later than a query, so a window only says how far back it sees.
AttentionRead Attention::by_row(const Var& q, const AttentionCache& cache) const {
  const size_t N = cache.index_.size(), H = static_cast<size_t>(config_.heads);
  const size_t reach = config_.window != "none" && (config_.width > 0 || config_.window == "sliding")
                           ? static_cast<size_t>(config_.width) + 1
                           : std::numeric_limits<size_t>::max();
  const size_t most = std::min(reach, static_cast<size_t>(cache.steps()));
  std::vector<int32_t> index(N * most), counts(N);
  for (size_t n = 0; n < N; ++n) {
    const auto& row = cache.index_[n];
    const size_t seen = std::min(most, row.size());
    std::copy_n(row.end() - static_cast<std::ptrdiff_t>(seen), seen, index.data() + n * most);
    counts[n] = static_cast<int32_t>(seen);
  }
  const kernels::RowAttention problem{.rows = N,
                                      .heads = H,
                                      .depth = static_cast<size_t>(q.dim(2)) / H,
                                      .scale = scale(),
                                      .q = q.value().data(),
                                      .keys = cache.keys_.data(),
                                      .values = cache.values_.data(),
                                      .index = index.data(),
                                      .stride = most,
                                      .counts = counts.data()};
  Tensor context(q.shape()), seen;
  if (Observing::active()) seen = Tensor({q.dim(0), config_.heads, static_cast<int64_t>(most)});
  kernels::attention_rows(problem, context.data(), seen.data());
  if (seen.defined()) {
    const size_t keys = static_cast<size_t>(cache.steps());
    Tensor weights = Tensor::zeros({q.dim(0), config_.heads, 1, static_cast<int64_t>(keys)});
    std::vector<int32_t> lengths;
    for (size_t n = 0; n < N; ++n) {
      const size_t count = static_cast<size_t>(counts[n]), first = cache.index_[n].size() - count;
      for (size_t h = n * H; h < (n + 1) * H; ++h) {
        std::copy_n(seen.data() + h * most, count, weights.data() + h * keys + first);
      }
      lengths.push_back(static_cast<int32_t>(cache.index_[n].size()));
    }
    tell(weights, {}, lengths, cache.steps() - 1);
  }
  return finished({.context = context});
}

/// Scores and windows may depend on a query's position, so rows of different lengths are read separately.
AttentionRead Attention::composed(const Var& q, const AttentionCache& cache) const {
  std::map<size_t, std::vector<int32_t>> by_length;
  for (size_t n = 0; n < cache.index_.size(); ++n) by_length[cache.index_[n].size()].push_back(static_cast<int32_t>(n));
  const int64_t N = q.dim(0), H = config_.heads, longest = cache.steps();
  Tensor context({N, 1, context_size()}), weights = Tensor::zeros({N, H, 1, longest}), centres;
  std::vector<int32_t> lengths(static_cast<size_t>(N));
  for (const auto& [length, rows] : by_length) {
    AttentionMemory memory;
    memory.sources_ = static_cast<int64_t>(rows.size());
    memory.keys_count_ = static_cast<int64_t>(length);
    std::vector<int32_t> index;
    for (const int32_t row : rows) {
      const auto& steps = cache.index_[static_cast<size_t>(row)];
      index.insert(index.end(), steps.begin(), steps.end());
    }
    const Ids places({memory.sources_, memory.keys_count_}, std::move(index));
    memory.keys_ = embedding(cache.keys_, places);
    memory.values_ = embedding(cache.values_, places);
    prepare_heads(memory);
    const AttentionStep step{.position = std::max<int64_t>(1, memory.keys_count_) - 1};
    const AttentionRead read = composed(take_rows(q, rows), memory, step);
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t row = rows[i], width = context.dim(2), keys = memory.keys_count_;
      std::copy_n(read.context.value().data() + static_cast<int64_t>(i) * width, width, context.data() + row * width);
      for (int64_t h = 0; h < H; ++h) {
        std::copy_n(read.weights.value().data() + (static_cast<int64_t>(i) * H + h) * keys, keys,
                    weights.data() + (row * H + h) * longest);
      }
      lengths[static_cast<size_t>(row)] = static_cast<int32_t>(length);
      if (!read.centres.defined()) continue;
      if (!centres.defined()) centres = Tensor::zeros({N, H, 1});
      std::copy_n(read.centres.data() + static_cast<int64_t>(i) * H, H, centres.data() + row * H);
    }
  }
  if (Observing::active()) tell(weights, centres, lengths, longest - 1);
  return {.context = context, .weights = weights, .centres = centres};
}

}  // namespace attend
