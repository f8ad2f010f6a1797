#include "attend/attention/attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/kernels/gemm.h"

namespace attend {
namespace {

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

/// The rows of [B,Tq,Tk] that are given, in place of those of [B,heads,Tq,Tk].
Var with_given(const Var& weights, const Tensor& given, const Tensor& mask) {
  const int64_t B = given.dim(0), Tq = given.dim(1), Tk = given.dim(2);
  Tensor own = Tensor::zeros({B, 1, Tq, 1}), told = given.clone().reshape({B, 1, Tq, Tk});
  for (int64_t row = 0; row < B * Tq; ++row) {
    const std::span<real> one(told.data() + row * Tk, static_cast<size_t>(Tk));
    if (std::ranges::all_of(one, [](real w) { return w == -1; })) {
      own.data()[row] = 1;
      std::ranges::fill(one, real{0});
    }
    require(std::ranges::all_of(one, [](real w) { return w >= 0 && std::isfinite(w); }),
            "Attention: expected given weights of at least 0, or a row of -1, got another number");
  }
  return add(multiply(weights, own), mask.defined() ? multiply(told, mask) : Var(told));
}

/// Head h of [B,heads,Tq,Tk] → [B,Tq,Tk].
Var pick_head(const Var& x, int64_t h) {
  const Var one = x.dim(1) == 1 ? x : slice(x, 1, h, h + 1);
  return reshape(one, {x.dim(0), x.dim(2), x.dim(3)});
}

}  // namespace

bool needs_previous(const AttentionConfig& config) {
  return score_named(config.score).previous || window_named(config.window).previous;
}

void refuse_previous(const AttentionConfig& config, const std::string& prefix) {
  const auto refuse = [&](const std::string& option, const std::string& name) {
    fail_option((prefix + option).c_str(), name,
                " looks at the weights of the step before, which only a recurrent decoder ",
                "has; choose another one here");
  };
  if (score_named(config.score).previous) refuse("score", config.score);
  if (window_named(config.window).previous) refuse("window", config.window);
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
                                  .filters = config_.filters,
                                  .reach = config_.reach,
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
  require(!step.previous.defined() || step.previous.shape() == Shape{memory.rows(), memory.keys()},
          "Attention: expected previous weights [", memory.rows(), ",", memory.keys(), "], got ",
          step.previous.shape());
  require(!step.given.defined() || step.given.shape() == Shape{memory.rows(), queries.dim(1), memory.keys()},
          "Attention: expected given weights [", memory.rows(), ",", queries.dim(1), ",", memory.keys(), "], got ",
          step.given.shape());
  require(queries.dim(1) == 1 || !needs_previous(config_), "Attention: expected one query at a time, as score ",
          config_.score, " or window ", config_.window, " looks at the weights of the step before, got ",
          queries.dim(1));
  const Var q = query_(queries);
  const bool tape = recording(q, memory.keys_, memory.values_),
             fused = fused_ && !Intervening::active() && !step.given.defined();
  if (fused && !tape && !step.random && q.dim(1) == 1 && config_.window == "none" && !step.weights) {
    return by_row(q, memory, step);
  }
  const bool many = q.dim(1) >= kTiledQueries || (q.dim(1) > 1 && kernels::SteadyRows::active());
  if (fused && step.position == 0 && many && memory.source_of_.empty() && !step.weights) {
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
  if (step.given.defined()) {
    require(!aligned.log_probability.defined(),
            "Attention: expected weights of its own, as align sample learns from what it drew, got given ones");
    weights = with_given(weights, step.given, mask);
  }
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
