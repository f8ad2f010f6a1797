#include "attend/attention/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/kernels/attention_rows.h"

namespace attend {
namespace {

constexpr ProjectionRow kProjections[] = {{"none", "x"}, {"linear", "Wx + b"}, {"mlp", "W₂·tanh(W₁x + b₁) + b₂"}};

// Queries per sequence from which the tiled kernel is faster than two small products and a softmax (measured at
// B = 64, Tk = 20…100, depth 64…256).
constexpr int64_t kTiledQueries = 8;

AttentionConfig completed(AttentionConfig c) {
  require(c.query >= 1 && c.key >= 1 && c.value >= 0 && c.size >= 0,
          "Attention: expected widths of query and key of at least 1, got ", c.query, " and ", c.key);
  require_option(c.heads >= 1, "heads", "expected at least one head, got ", c.heads);
  require_option(c.dropout >= 0 && c.dropout < 1, "dropout", "dropout must be in [0, 1), got ", c.dropout);
  if (c.value == 0) c.value = c.key;
  if (c.size == 0) c.size = c.query;
  return c;
}

int64_t per_head(const char* what, int64_t width, int64_t heads) {
  require_option(width % heads == 0, "heads", heads, " heads must divide the width of the ", what, ", got ", width);
  return width / heads;
}

/// Columns of head h of [N,T,heads·d].
Var head_of(const Var& x, int64_t h, int64_t heads) {
  if (heads == 1) return x;
  const int64_t d = x.dim(2) / heads;
  return slice(x, 2, h * d, (h + 1) * d);
}

/// [B or 1,Tq or 1,Tk] → [B or 1,1,Tq or 1,Tk].
Tensor for_all_heads(const Tensor& mask) {
  return mask.defined() ? mask.reshape({mask.dim(0), 1, mask.dim(1), mask.dim(2)}) : mask;
}

/// One per head, each [B,..] → [B,heads,..].
Var join_heads(const std::vector<Var>& parts) {
  if (parts.size() > 1) return stack(parts, 1);
  Shape shape{parts[0].dim(0), 1};
  for (int axis = 1; axis < parts[0].rank(); ++axis) shape.append(parts[0].dim(axis));
  return reshape(parts[0], shape);
}

Tensor join_masks(const std::vector<Tensor>& masks, int64_t B, int64_t Tq, int64_t Tk) {
  std::vector<Var> whole;
  for (const Tensor& mask : masks) {
    whole.push_back(mask.defined() ? add(mask, Tensor::zeros({B, Tq, Tk})) : Var(Tensor::full({B, Tq, Tk}, 1)));
  }
  return join_heads(whole).value();
}

/// Head h of [B,heads,Tq,Tk] → [B,Tq,Tk].
Var pick_head(const Var& x, int64_t h) {
  const Var one = x.dim(1) == 1 ? x : slice(x, 1, h, h + 1);
  return reshape(one, {x.dim(0), x.dim(2), x.dim(3)});
}

}  // namespace

std::span<const ProjectionRow> projections() { return kProjections; }

Projection::Projection(std::string_view kind, int64_t in, int64_t out, Random& random) : size_(out) {
  row_named("projection", kProjections, kind);
  if (kind == "none") size_ = in;
  if (kind == "mlp") layers_.emplace_back(in, out, random, true, Activation::tanh);
  if (kind != "none") layers_.emplace_back(kind == "mlp" ? out : in, out, random);
}

Var Projection::operator()(const Var& x) const {
  Var y = x;
  for (const nn::Linear& layer : layers_) y = layer(y);
  return y;
}

void Projection::params(const nn::VisitParams& visit) {
  for (size_t i = 0; i < layers_.size(); ++i) visit_part(visit, std::to_string(i), layers_[i]);
}

void AttentionMemory::take(std::span<const int32_t> rows) {
  std::vector<int32_t> sources;
  for (const int32_t row : rows) {
    require(row >= 0 && row < this->rows(), "AttentionMemory::take: expected rows in [0, ", this->rows(), "), got ",
            row);
    sources.push_back(source_of_.empty() ? row : source_of_[static_cast<size_t>(row)]);
  }
  if (!sources.empty() && sources == source_of_) return;  // hypotheses of one sentence changed places
  index_.clear();
  expanded_.reset();
  if (sources.empty()) {  // no rows are left; an empty source_of_ would mean all
    for (Var* one : {&keys_, &values_}) *one = take_rows(*one, sources);
    for (auto* heads : {&prepared_, &head_values_}) {
      for (Var& one : *heads) one = take_rows(one, sources);
    }
    sources_ = 0;
    lengths_.clear();
  }
  source_of_ = std::move(sources);
}

std::vector<int32_t> AttentionMemory::lengths() const {
  if (source_of_.empty() || lengths_.empty()) return lengths_;
  std::vector<int32_t> all;
  for (const int32_t source : source_of_) all.push_back(lengths_[static_cast<size_t>(source)]);
  return all;
}

int64_t AttentionCache::steps() const {
  size_t most = 0;
  for (const auto& row : index_) most = std::max(most, row.size());
  return static_cast<int64_t>(most);
}

void AttentionCache::append(const Tensor& keys, const Tensor& values, std::span<const uint8_t> active) {
  const int64_t N = keys.dim(0), K = keys.dim(-1), V = values.dim(-1);
  if (index_.empty()) index_.resize(static_cast<size_t>(N));
  require(static_cast<size_t>(N) == index_.size() && (active.empty() || active.size() == index_.size()),
          "AttentionCache: expected ", index_.size(), " rows, got ", N);
  const int64_t room = keys_.defined() ? keys_.dim(0) : 0;
  if (used_ + N > room || !keys_.unique() || !values_.unique()) {  // a copy of this cache appends elsewhere
    const int64_t rows = used_ + N > room ? std::max(2 * room, 16 * N) : room;
    Tensor more_keys({rows, K}), more_values({rows, V});
    if (room > 0) {
      std::copy_n(keys_.data(), used_ * K, more_keys.data());
      std::copy_n(values_.data(), used_ * V, more_values.data());
    }
    keys_ = more_keys, values_ = more_values;
  }
  std::copy_n(keys.data(), N * K, keys_.data() + used_ * K);
  std::copy_n(values.data(), N * V, values_.data() + used_ * V);
  for (size_t n = 0; n < index_.size(); ++n) {
    if (active.empty() || active[n]) index_[n].push_back(static_cast<int32_t>(used_) + static_cast<int32_t>(n));
  }
  used_ += N;
}

void AttentionCache::take(std::span<const int32_t> rows) {
  if (index_.empty()) return;
  std::vector<std::vector<int32_t>> taken;
  for (const int32_t row : rows) {
    require(row >= 0 && static_cast<size_t>(row) < index_.size(), "AttentionCache::take: expected rows in [0, ",
            index_.size(), "), got ", row);
    taken.push_back(index_[static_cast<size_t>(row)]);
  }
  index_ = std::move(taken);
}

Attention::Attention(const AttentionConfig& config, Random& random, AttentionSite site)
    : config_(completed(config)),
      site_(std::move(site)),
      query_(config_.query_projection, config_.query, config_.size, random),
      key_(config_.key_projection, config_.key, config_.size, random),
      value_(config_.value_projection, config_.value, config_.size, random) {
  const ScoreRow& score = score_named(config_.score);
  const WindowRow& window = window_named(config_.window);
  const int64_t H = config_.heads, q = per_head("query", query_.size(), H), k = per_head("key", key_.size(), H);
  per_head("value", value_.size(), H);
  for (int64_t h = 0; h < H; ++h) {
    scores_.push_back(score.make({.query = q,
                                  .key = k,
                                  .hidden = config_.hidden,
                                  .longest = config_.longest,
                                  .radius = config_.radius,
                                  .coverage = config_.coverage},
                                 random));
    if (h == 0 || window.per_head) windows_.push_back(window.make({.query = q, .width = config_.width}, random));
  }
  if (config_.align == "gumbel") temperature_ = Var(Tensor::zeros({1}));
  set_align(config_.align);
  if (config_.coverage && !score.takes_coverage) coverage_ = Var::leaf(Tensor::zeros({1}));
  if (config_.output_projection) output_.emplace_back(value_.size(), config_.query, random);
}

void Attention::set_align(const std::string& name) {
  const AlignRow& row = align_named(name);
  config_.align = name;
  align_ = row.make({.temperature = config_.temperature,
                     .coldest = config_.coldest,
                     .cooling = config_.cooling,
                     .straight_through = config_.straight_through,
                     .reached = temperature_});
  fused_ = score_named(config_.score).fused && row.fused && window_named(config_.window).by_place &&
           !config_.coverage && query_.size() == key_.size() && key_.size() == value_.size();
}

bool Attention::hard() const {
  return align_named(config_.align).hard || (config_.align == "gumbel" && config_.straight_through);
}

int64_t Attention::context_size() const { return output_.empty() ? value_.size() : config_.query; }

real Attention::scale() const {
  return config_.score == "dot" ? real{1} : 1 / std::sqrt(static_cast<real>(key_.size() / config_.heads));
}

AttentionMemory Attention::prepare(const Var& keys, const Var& values, std::span<const int32_t> lengths) const {
  require(keys.defined() && values.defined() && keys.rank() == 3 && values.rank() == 3 && keys.dim(2) == config_.key &&
              values.dim(2) == config_.value && keys.dim(0) == values.dim(0) && keys.dim(1) == values.dim(1),
          "Attention: expected keys [B,Tk,", config_.key, "] and values [B,Tk,", config_.value, "], got ",
          keys.shape(), " and ", values.shape());
  require(lengths.empty() || static_cast<int64_t>(lengths.size()) == keys.dim(0),
          "Attention: expected one length for each of ", keys.dim(0), " sources, got ", lengths.size());
  for (const int32_t length : lengths) {
    require(length >= 0 && length <= keys.dim(1), "Attention: lengths must be in [0, ", keys.dim(1), "], got ", length);
  }
  AttentionMemory memory;
  memory.sources_ = keys.dim(0);
  memory.keys_count_ = keys.dim(1);
  memory.lengths_.assign(lengths.begin(), lengths.end());
  memory.keys_ = key_(keys);
  memory.values_ = value_(values);
  if (!fused_) prepare_heads(memory);
  return memory;
}

void Attention::extend(AttentionMemory& memory, const Var& keys, const Var& values) const {
  AttentionMemory more = prepare(keys, values);
  if (memory.sources_ == 0) {
    memory = std::move(more);
    return;
  }
  require(memory.lengths_.empty() && memory.source_of_.empty() && memory.sources_ == more.sources_,
          "Attention::extend: expected ", memory.sources_, " sources of equal length, got ", more.sources_);
  const auto join = [](Var& a, const Var& b) { a = concat(std::array{a, b}, 1); };
  join(memory.keys_, more.keys_);
  join(memory.values_, more.values_);
  if (more.prepared_.empty()) {  // fused by now (set_align): the heads are rebuilt when needed
    memory.prepared_.clear();
    memory.head_values_.clear();
  }
  for (size_t h = 0; h < memory.prepared_.size(); ++h) {
    join(memory.prepared_[h], more.prepared_[h]);
    join(memory.head_values_[h], more.head_values_[h]);
  }
  memory.keys_count_ += more.keys_count_;
  memory.index_.clear();
  memory.expanded_.reset();
}

void Attention::prepare_heads(AttentionMemory& memory) const {
  for (int64_t h = 0; h < config_.heads; ++h) {
    memory.prepared_.push_back(scores_[static_cast<size_t>(h)]->prepare(head_of(memory.keys_, h, config_.heads)));
    memory.head_values_.push_back(head_of(memory.values_, h, config_.heads));
  }
}

AttentionRead Attention::operator()(const Var& queries, const AttentionMemory& memory,
                                    const AttentionStep& step) const {
  require(
      queries.defined() && queries.rank() == 3 && queries.dim(0) == memory.rows() && queries.dim(2) == config_.query,
      "Attention: expected queries [", memory.rows(), ",Tq,", config_.query, "], got ", queries.shape());
  require(!step.coverage.defined() || step.coverage.shape() == Shape{memory.rows(), memory.keys()},
          "Attention: expected coverage [", memory.rows(), ",", memory.keys(), "], got ", step.coverage.shape());
  const Var q = query_(queries);
  const bool tape = recording(q, memory.keys_, memory.values_), fused = fused_ && !Intervening::active();
  if (fused && !tape && !step.random && q.dim(1) == 1 && config_.window == "none" && !step.weights) {
    return by_row(q, memory, step);
  }
  if (fused && step.position == 0 && q.dim(1) >= kTiledQueries && memory.source_of_.empty() && !step.weights) {
    return tiled(q, memory, step);
  }
  const AttentionMemory& whole = with_heads(memory);
  const AttentionRead read = composed(q, whole, step);
  if (Observing::active()) tell(read.weights.value(), read.centres, whole.lengths_, step.position);
  return read;
}

/// The composed stages need one source per row, and what the fused kernels did not need: made once and kept, unless a
/// tape is open, which does not see what was made without it.
const AttentionMemory& Attention::with_heads(const AttentionMemory& memory) const {
  if (memory.source_of_.empty() && !memory.prepared_.empty()) return memory;
  if (memory.expanded_ && !Tape::current()) return *memory.expanded_;
  auto expanded = std::make_shared<AttentionMemory>(memory);
  expanded->expanded_.reset();
  if (!memory.source_of_.empty()) {
    expanded->keys_ = take_rows(memory.keys_, memory.source_of_);
    expanded->values_ = take_rows(memory.values_, memory.source_of_);
    for (Var& one : expanded->prepared_) one = take_rows(one, memory.source_of_);
    for (Var& one : expanded->head_values_) one = take_rows(one, memory.source_of_);
    expanded->lengths_ = memory.lengths();
    expanded->sources_ = memory.rows();
    expanded->source_of_.clear();
  }
  if (expanded->prepared_.empty()) prepare_heads(*expanded);
  memory.expanded_ = std::move(expanded);
  return *memory.expanded_;
}

AttentionRead Attention::composed(const Var& q, const AttentionMemory& memory, const AttentionStep& step) const {
  const int64_t H = config_.heads, B = q.dim(0), Tq = q.dim(1), Tk = memory.keys();
  const KeyRange range{B, Tk, memory.lengths_};
  std::vector<Var> energies;
  std::vector<Windowed> windowed;
  for (int64_t h = 0; h < H; ++h) {
    const size_t i = static_cast<size_t>(h);
    const Var head = head_of(q, h, H);
    Var e = (*scores_[i])(head, memory.prepared_[i], step);
    if (coverage_.defined() && step.coverage.defined()) {
      e = add(e, multiply(reshape(step.coverage, {B, 1, Tk}), coverage_));
    }
    energies.push_back(e);
    if (i < windows_.size()) windowed.push_back((*windows_[i])(head, range, step));
  }
  Tensor mask = for_all_heads(windowed[0].mask), centres = windowed[0].centres;
  Var factor = windowed[0].factor;
  if (centres.defined()) centres = centres.reshape({B, 1, Tq});
  if (windowed.size() > 1) {
    std::vector<Tensor> masks;
    std::vector<Var> factors, all_centres;
    for (const Windowed& w : windowed) {
      masks.push_back(w.mask);
      if (w.factor.defined()) factors.push_back(w.factor);
      if (w.centres.defined()) all_centres.emplace_back(w.centres);
    }
    mask = join_masks(masks, B, Tq, Tk);
    factor = factors.empty() ? Var() : join_heads(factors);
    centres = all_centres.empty() ? Tensor() : join_heads(all_centres).value();
  } else if (factor.defined()) {
    factor = join_heads({factor});
  }
  if (centres.defined() && centres.dim(1) < H) centres = add(centres, Tensor::zeros({B, H, Tq})).value();
  const Var scored = join_heads(energies);
  const Aligned aligned = (*align_)(scored, mask, step);
  Var weights = aligned.weights;
  if (factor.defined()) weights = multiply(weights, factor);
  Var undropped = weights;
  if (config_.dropout > 0 && step.random) weights = dropout(weights, static_cast<real>(config_.dropout), *step.random);
  if (Intervening::active()) {
    const Tensor changed = Intervening::changed(observation(weights.value(), centres, memory.lengths_, step.position));
    if (changed.defined()) undropped = weights = changed;
  }
  std::vector<Var> contexts;
  for (int64_t h = 0; h < H; ++h) {
    contexts.push_back(batched_matmul(pick_head(weights, h), memory.head_values_[static_cast<size_t>(h)]));
  }
  const Var context = H == 1 ? contexts[0] : concat(contexts, 2);
  return finished({context, weights, aligned.log_probability, aligned.entropy, centres, undropped, scored});
}

AttentionRead Attention::tiled(const Var& q, const AttentionMemory& memory, const AttentionStep& step) const {
  AttentionOptions options{.heads = config_.heads, .scale = scale(), .key_lengths = memory.lengths_};
  options.causal = config_.window == "causal";
  if (config_.window == "sliding" || (options.causal && config_.width > 0)) options.window = config_.width;
  options.window_stays = true;
  if (step.random && config_.dropout > 0) {
    options.dropout = static_cast<real>(config_.dropout);
    options.random = step.random;
  }
  Tensor weights;
  if (Observing::active()) options.weights = &weights;
  const Var context = scaled_dot_product_attention(q, memory.keys_, memory.values_, options);
  if (weights.defined()) tell(weights, {}, memory.lengths_, step.position);
  return finished({.context = context});
}

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

AttentionRead Attention::finished(AttentionRead read) const {
  if (!output_.empty()) read.context = output_[0](read.context);
  return read;
}

Observation Attention::observation(const Tensor& weights, const Tensor& centres, std::span<const int32_t> lengths,
                                   int64_t position) const {
  return {.site = site_.name,
          .purpose = site_.purpose,
          .layer = site_.layer,
          .step = position,
          .weights = weights,
          .centres = centres,
          .reach = centres.defined() ? config_.width : 0,
          .hard = hard(),
          .key_lengths = lengths};
}

void Attention::tell(const Tensor& weights, const Tensor& centres, std::span<const int32_t> lengths,
                     int64_t position) const {
  Observing::tell(observation(weights, centres, lengths, position));
}

void Attention::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "query", query_);
  nn::visit_part(visit, "key", key_);
  nn::visit_part(visit, "value", value_);
  const auto part = [](const char* name, size_t i, size_t count) {
    return count == 1 ? std::string(name) : name + std::string(".") + std::to_string(i);
  };
  for (size_t h = 0; h < scores_.size(); ++h) nn::visit_part(visit, part("score", h, scores_.size()), *scores_[h]);
  for (size_t h = 0; h < windows_.size(); ++h) nn::visit_part(visit, part("window", h, windows_.size()), *windows_[h]);
  if (coverage_.defined()) visit("coverage", coverage_);
  if (temperature_.defined()) visit("temperature", temperature_);
  if (!output_.empty()) visit_part(visit, "output", output_[0]);
}

}  // namespace attend
