#include "attend/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/attention.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/math-inl.h"
#include "attend/kernels/random-inl.h"
#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Tiles: energies of 96 × 256 (96 KiB) and the panels of 256 keys and values (128 KiB at depth 64) fit the second-level
// cache; backward holds three such squares and takes 128 × 128. Both are whole dropout blocks and whole panels wide.
constexpr size_t kQueryTile = 96, kKeyTile = 256;
constexpr size_t kBackwardTile = 128;
constexpr real kNothing = -std::numeric_limits<real>::infinity();

/// A range of keys (or queries) that may meet.
struct Range {
  size_t begin, end;
  bool empty() const { return begin >= end; }
  size_t count() const { return empty() ? 0 : end - begin; }
  Range within(size_t from, size_t count) const {
    const size_t b = std::max(begin, from), e = std::min(end, from + count);
    return b < e ? Range{b - from, e - from} : Range{0, 0};
  }
};

/// One head of one sentence.
struct Head {
  const AttentionProblem& p;
  size_t b, h;

  size_t stride() const { return p.heads * p.depth; }
  size_t query_offset() const { return b * p.queries * stride() + h * p.depth; }
  size_t key_offset() const { return b * p.keys * stride() + h * p.depth; }
  size_t row(size_t i) const { return (b * p.heads + h) * p.queries + i; }
  size_t key_count() const {
    return p.key_lengths ? std::min<size_t>(p.keys, static_cast<size_t>(p.key_lengths[b])) : p.keys;
  }
  /// The keys that query i sees: padding, causal and window masks all leave one range.
  Range keys_of(size_t i) const {
    Range r{0, key_count()};
    const size_t at = p.window_stays ? std::min(i, std::max<size_t>(r.end, 1) - 1) : i;
    if (p.causal) r.end = std::min(r.end, at + 1);
    if (p.window >= 0) {
      const size_t w = static_cast<size_t>(p.window);
      r.begin = at > w ? at - w : 0;
      r.end = std::min(r.end, at + w + 1);
    }
    return r;
  }
  /// The queries that see key j.
  Range queries_of(size_t j) const {
    if (j >= key_count()) return {0, 0};
    Range r{p.causal ? j : 0, p.queries};
    if (p.window >= 0) {
      const size_t w = static_cast<size_t>(p.window);
      r.begin = std::max(r.begin, j > w ? j - w : 0);
      const bool from_past_the_end = p.window_stays && j + w + 1 >= key_count();
      if (!from_past_the_end) r.end = std::min(r.end, j + w + 1);
    }
    return r;
  }
};

/// Copies rows of a strided matrix next to each other, times `scale`.
void gather_rows(const real* from, size_t stride, size_t rows, size_t depth, real scale, real* to) {
  for (size_t i = 0; i < rows; ++i) {
    map_range(to + i * depth, depth, 0, [&](Real d, size_t j, auto load) HWY_ATTR {
      return hn::Mul(load(d, from + i * stride + j), hn::Set(d, scale));
    });
  }
}

void scale_row(real* x, size_t n, real by) {
  map_range(x, n, 0, [&](Real d, size_t i, auto load) HWY_ATTR { return hn::Mul(load(d, x + i), hn::Set(d, by)); });
}

/// The running softmax of one query over the tiles of its keys.
struct Running {
  real top = kNothing, sum = 0;
};

/// Turns the energies of one query in one tile into weights relative to the largest so far, 0 outside `seen`.
/// Returns the factor by which the sum so far must be scaled down.
HWY_INLINE real weigh_row(real* e, size_t n, Range seen, Running& state) {
  const Real d;
  std::fill(e, e + seen.begin, real{0});
  std::fill(e + seen.end, e + n, real{0});
  if (seen.empty()) return 1;
  real* x = e + seen.begin;
  const size_t count = seen.count();
  Reals m0 = hn::Set(d, state.top), m1 = m0;
  size_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    m0 = hn::Max(m0, hn::LoadU(d, x + i));
    m1 = hn::Max(m1, hn::LoadU(d, x + i + kLanes));
  }
  walk(count - i, [&](size_t j, auto load, auto, auto) HWY_ATTR { m0 = hn::Max(m0, load(x + i + j)); });
  const real top = hn::GetLane(hn::MaxOfLanes(d, hn::Max(m0, m1)));
  if (top == kNothing) {
    std::fill_n(x, count, real{0});
    return 1;
  }
  const Reals shift = hn::Set(d, top);
  Reals s0 = hn::Zero(d), s1 = s0;
  i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const Reals a = exp_below(hn::LoadU(d, x + i), shift);
    const Reals b = exp_below(hn::LoadU(d, x + i + kLanes), shift);
    hn::StoreU(a, d, x + i);
    hn::StoreU(b, d, x + i + kLanes);
    s0 = hn::Add(s0, a);
    s1 = hn::Add(s1, b);
  }
  walk(count - i, [&](size_t j, auto load, auto store, auto valid) HWY_ATTR {
    const Reals a = exp_below(load(x + i + j), shift);
    store(a, x + i + j);
    s0 = hn::Add(s0, valid(a));
  });
  const real shrink = state.top == top ? 1 : state.top == kNothing ? 0 : std::exp(state.top - top);
  state.sum = state.sum * shrink + hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  state.top = top;
  return shrink;
}

/// weights[i] *= the dropout pattern of columns [begin, begin + n) of a row; begin is a multiple of 64.
HWY_INLINE void drop_row(const AttentionProblem& p, size_t row, size_t begin, size_t n, real* weights) {
  HWY_ALIGN real scales[kRandomBlock];
  for (size_t j = 0; j < n; j += kRandomBlock) {
    dropout_block(p.keep, p.dropout_key, row, (begin + j) / kRandomBlock, scales);
    for (size_t c = 0; c < std::min(kRandomBlock, n - j); ++c) weights[j + c] *= scales[c];
  }
}

/// Keys and values of one head, packed for the two products of the forward pass.
struct PackedHead {
  memory::Scratch keys, values;
  explicit PackedHead(const Head& head)
      : keys(packed_size(head.p.depth, head.p.keys)), values(packed_size(head.p.keys, head.p.depth)) {
    const AttentionProblem& p = head.p;
    pack(p.k + head.key_offset(), head.stride(), true, p.depth, head.key_count(), keys.data());
    pack(p.v + head.key_offset(), head.stride(), false, p.keys, p.depth, values.data());
  }
};

/// What one thread needs for a tile of queries.
struct QueryTile {
  memory::Scratch memory;
  real *queries, *energies, *context;
  explicit QueryTile(size_t depth) : memory(kQueryTile * (kKeyTile + 2 * depth)) {
    energies = memory.data();
    queries = energies + kQueryTile * kKeyTile;
    context = queries + kQueryTile * depth;
  }
};

void forward_tile(const Head& head, const PackedHead& packed, QueryTile& tile, size_t first, real* out, real* log_sum) {
  const AttentionProblem& p = head.p;
  const size_t rows = std::min(kQueryTile, p.queries - first), D = p.depth;
  gather_rows(p.q + head.query_offset() + first * head.stride(), head.stride(), rows, D, p.scale, tile.queries);
  std::fill_n(tile.context, rows * D, real{0});
  Running states[kQueryTile];
  const size_t key_begin = head.keys_of(first).begin / kKeyTile * kKeyTile;
  const size_t key_end = head.keys_of(first + rows - 1).end;
  for (size_t j = key_begin; j < key_end; j += kKeyTile) {
    const size_t n = std::min(kKeyTile, key_end - j);
    block_product(tile.queries, D, packed.keys.data() + j * D, D * kPanel, rows, n, D, tile.energies, kKeyTile, false);
    for (size_t i = 0; i < rows; ++i) {
      real* e = tile.energies + i * kKeyTile;
      const real shrink = weigh_row(e, n, head.keys_of(first + i).within(j, n), states[i]);
      if (shrink != 1) scale_row(tile.context + i * D, D, shrink);
      if (p.keep < 1) drop_row(p, head.row(first + i), j, n, e);
    }
    block_product(tile.energies, kKeyTile, packed.values.data() + j * kPanel, p.keys * kPanel, rows, D, n, tile.context,
                  D, true);
  }
  for (size_t i = 0; i < rows; ++i) {
    const Running& s = states[i];
    const real by = s.sum > 0 ? 1 / s.sum : 0;
    gather_rows(tile.context + i * D, D, 1, D, by, out + head.query_offset() + (first + i) * head.stride());
    log_sum[head.row(first + i)] = s.sum > 0 ? s.top + std::log(s.sum) : -kNothing;
  }
}

void AttentionForward(const AttentionProblem& p, real* out, real* log_sum) {
  const size_t heads = p.batch * p.heads, tiles = (p.queries + kQueryTile - 1) / kQueryTile;
  // Queries of one head are split only if there are too few heads to keep the threads busy.
  const size_t needed = (4 * static_cast<size_t>(threads()) + heads - 1) / std::max<size_t>(1, heads);
  const size_t parts = std::max<size_t>(1, std::min(needed, tiles / 4));
  parallel_for(heads * parts, [&](size_t task) {
    const Head head{p, task / parts / p.heads, task / parts % p.heads};
    const PackedHead packed(head);
    QueryTile tile(p.depth);
    const size_t part = task % parts;
    for (size_t t = tiles * part / parts; t < tiles * (part + 1) / parts; ++t) {
      forward_tile(head, packed, tile, t * kQueryTile, out, log_sum);
    }
  });
}

/// Everything of one head that the backward pass multiplies with, packed once.
struct BackwardHead {
  memory::Scratch memory;
  real *queries_t, *dout_t;     // qᵀ, doᵀ as right sides: [depth, Tq]
  real *queries, *dout, *keys;  // as right sides: [Tq, depth], [Tq, depth], [Tk, depth]
  real* delta;                  // [Tq]: Σ do∘o
  explicit BackwardHead(const Head& head, const real* out, const real* d_out)
      : memory(2 * packed_size(head.p.depth, head.p.queries) + 2 * packed_size(head.p.queries, head.p.depth) +
               packed_size(head.p.keys, head.p.depth) + head.p.queries * (head.p.depth + 1) +
               head.p.keys * head.p.depth) {
    const AttentionProblem& p = head.p;
    const size_t D = p.depth, T = p.queries, stride = head.stride();
    queries_t = memory.data();
    dout_t = queries_t + packed_size(D, T);
    queries = dout_t + packed_size(D, T);
    dout = queries + packed_size(T, D);
    keys = dout + packed_size(T, D);
    delta = keys + packed_size(p.keys, D);
    real* scaled = delta + T;
    gather_rows(p.q + head.query_offset(), stride, T, D, p.scale, scaled);
    pack(scaled, D, true, D, T, queries_t);
    pack(scaled, D, false, T, D, queries);
    const real* g = d_out + head.query_offset();
    pack(g, stride, true, D, T, dout_t);
    pack(g, stride, false, T, D, dout);
    real* scaled_keys = scaled + T * D;
    gather_rows(p.k + head.key_offset(), stride, p.keys, D, p.scale, scaled_keys);
    pack(scaled_keys, D, false, p.keys, D, keys);
    const real* o = out + head.query_offset();
    for (size_t i = 0; i < T; ++i) {
      Reals sum = hn::Zero(Real());
      walk(D, [&](size_t j, auto load, auto, auto valid)
                  HWY_ATTR { sum = hn::Add(sum, valid(hn::Mul(load(g + i * stride + j), load(o + i * stride + j)))); });
      delta[i] = hn::GetLane(hn::SumOfLanes(Real(), sum));
    }
  }
};

/// Squares of one tile, keys down and queries across: the transposes of the weights and of their gradients, which then
/// serve directly as the left sides of dv += wᵀ·do and dk += dsᵀ·q.
struct BackwardTile {
  memory::Scratch memory;
  real *keys, *values, *weights, *gradients, *turned, *dropout;
  explicit BackwardTile(size_t depth, bool drops)
      : memory(kBackwardTile * (2 * depth + (drops ? 5 : 3) * kBackwardTile)) {
    keys = memory.data();
    values = keys + kBackwardTile * depth;
    weights = values + kBackwardTile * depth;
    gradients = weights + kBackwardTile * kBackwardTile;
    turned = gradients + kBackwardTile * kBackwardTile;
    dropout = drops ? turned + kBackwardTile * kBackwardTile : nullptr;
  }
};

/// w = e^(energy − log_sum) and ds = w∘(dw − delta) for one key and the queries of a tile; 0 for those that do not see it.
/// With dropout m: ds = w∘(m∘dw − delta), and w becomes m∘w.
HWY_INLINE void backward_row(real* w, real* ds, size_t n, Range seen, const real* log_sum, const real* delta,
                             const real* m) {
  std::fill(w, w + seen.begin, real{0});
  std::fill(w + seen.end, w + n, real{0});
  std::fill(ds, ds + seen.begin, real{0});
  std::fill(ds + seen.end, ds + n, real{0});
  if (seen.empty()) return;
  const size_t at = seen.begin;
  walk(seen.count(), [&](size_t i, auto load, auto store, auto) HWY_ATTR {
    const Reals weight = exp_below(load(w + at + i), load(log_sum + at + i));
    Reals dw = load(ds + at + i);
    if (m) dw = hn::Mul(dw, load(m + at + i));
    store(hn::Mul(weight, hn::Sub(dw, load(delta + at + i))), ds + at + i);
    store(m ? hn::Mul(weight, load(m + at + i)) : weight, w + at + i);
  });
}

void backward_tile(const Head& head, const BackwardHead& packed, BackwardTile& tile, size_t j, size_t keys, size_t i,
                   size_t queries, const real* log_sum, real* dq, real* dk, real* dv, bool first) {
  const AttentionProblem& p = head.p;
  const size_t D = p.depth, stride = head.stride(), ld = kBackwardTile;
  block_product(tile.keys, D, packed.queries_t + i * D, D * kPanel, keys, queries, D, tile.weights, ld, false);
  block_product(tile.values, D, packed.dout_t + i * D, D * kPanel, keys, queries, D, tile.gradients, ld, false);
  if (tile.dropout) {
    real* by_query = tile.dropout + ld * ld;
    for (size_t r = 0; r < queries; ++r) {
      std::fill_n(by_query + r * ld, keys, real{1});
      drop_row(p, head.row(i + r), j, keys, by_query + r * ld);
    }
    transpose_block(by_query, ld, queries, keys, tile.dropout, ld);
  }
  for (size_t r = 0; r < keys; ++r) {
    backward_row(tile.weights + r * ld, tile.gradients + r * ld, queries, head.queries_of(j + r).within(i, queries),
                 log_sum + head.row(i), packed.delta + i, tile.dropout ? tile.dropout + r * ld : nullptr);
  }
  const size_t at = head.key_offset() + j * stride;
  block_product(tile.weights, ld, packed.dout + i * kPanel, p.queries * kPanel, keys, D, queries, dv + at, stride,
                !first);
  block_product(tile.gradients, ld, packed.queries + i * kPanel, p.queries * kPanel, keys, D, queries, dk + at, stride,
                !first);
  transpose_block(tile.gradients, ld, keys, queries, tile.turned, ld);
  block_product(tile.turned, ld, packed.keys + j * kPanel, p.keys * kPanel, queries, D, keys,
                dq + head.query_offset() + i * stride, stride, true);
}

void AttentionBackward(const AttentionProblem& p, const real* out, const real* log_sum, const real* dout, real* dq,
                       real* dk, real* dv) {
  parallel_for(p.batch * p.heads, [&](size_t task) {
    const Head head{p, task / p.heads, task % p.heads};
    const BackwardHead packed(head, out, dout);
    BackwardTile tile(p.depth, p.keep < 1);
    const size_t D = p.depth, stride = head.stride();
    for (size_t i = 0; i < p.queries; ++i) std::fill_n(dq + head.query_offset() + i * stride, D, real{0});
    for (size_t j = 0; j < p.keys; j += kBackwardTile) {
      const size_t keys = std::min(kBackwardTile, p.keys - j), at = head.key_offset() + j * stride;
      gather_rows(p.k + at, stride, keys, D, 1, tile.keys);
      gather_rows(p.v + at, stride, keys, D, 1, tile.values);
      bool first = true;
      const size_t last_key = std::min(j + keys, head.key_count());
      const Range seen =
          j < last_key ? Range{head.queries_of(j).begin, head.queries_of(last_key - 1).end} : Range{0, 0};
      for (size_t i = seen.begin / kBackwardTile * kBackwardTile; i < seen.end; i += kBackwardTile) {
        backward_tile(head, packed, tile, j, keys, i, std::min(kBackwardTile, p.queries - i), log_sum, dq, dk, dv,
                      first);
        first = false;
      }
      if (!first) continue;
      for (size_t r = 0; r < keys; ++r) {
        std::fill_n(dk + at + r * stride, D, real{0});
        std::fill_n(dv + at + r * stride, D, real{0});
      }
    }
  });
}

void AttentionWeights(const AttentionProblem& p, const real* log_sum, real* weights) {
  parallel_for(p.batch * p.heads, [&](size_t task) {
    const Head head{p, task / p.heads, task % p.heads};
    const PackedHead packed(head);
    QueryTile tile(p.depth);
    for (size_t i = 0; i < p.queries; ++i) {
      real* w = weights + head.row(i) * p.keys;
      gather_rows(p.q + head.query_offset() + i * head.stride(), head.stride(), 1, p.depth, p.scale, tile.queries);
      const Range seen = head.keys_of(i);
      const size_t count = head.key_count();
      for (size_t j = 0; j < count; j += kKeyTile) {
        block_product(tile.queries, p.depth, packed.keys.data() + j * p.depth, p.depth * kPanel, 1,
                      std::min(kKeyTile, count - j), p.depth, w + j, p.keys, false);
      }
      std::fill(w, w + std::min(seen.begin, p.keys), real{0});
      std::fill(w + seen.end, w + p.keys, real{0});
      const Reals shift = hn::Set(Real(), log_sum[head.row(i)]);
      if (!seen.empty()) {
        map_range(w + seen.begin, seen.count(), 0,
                  [&](Real d, size_t j, auto load) HWY_ATTR { return exp_below(load(d, w + seen.begin + j), shift); });
      }
      if (p.keep < 1) drop_row(p, head.row(i), 0, p.keys, w);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AttentionForward);
HWY_EXPORT(AttentionBackward);
HWY_EXPORT(AttentionWeights);

void attention_forward(const AttentionProblem& p, real* out, real* log_sum) {
  HWY_DYNAMIC_DISPATCH(AttentionForward)(p, out, log_sum);
}

void attention_backward(const AttentionProblem& p, const real* out, const real* log_sum, const real* dout, real* dq,
                        real* dk, real* dv) {
  HWY_DYNAMIC_DISPATCH(AttentionBackward)(p, out, log_sum, dout, dq, dk, dv);
}

void attention_weights(const AttentionProblem& p, const real* log_sum, real* weights) {
  HWY_DYNAMIC_DISPATCH(AttentionWeights)(p, log_sum, weights);
}

}  // namespace attend::kernels
#endif
