#include "attend/autograd/ops/attention.h"

#include <array>
#include <cmath>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/additive.h"
#include "attend/kernels/attention.h"
#include "attend/kernels/location.h"

namespace attend {
namespace {

kernels::AttentionProblem attention_problem(const Var& q, const Var& k, const Var& v, const AttentionOptions& o) {
  const char* where = "scaled_dot_product_attention";
  require(q.defined() && k.defined() && v.defined() && q.rank() == 3 && k.rank() == 3, where,
          ": expected q [B,Tq,D], k and v [B,Tk,D], got ", q.shape(), ", ", k.shape(), ", ", v.shape());
  require(k.shape() == v.shape() && q.dim(0) == k.dim(0) && q.dim(2) == k.dim(2), where,
          ": expected q [B,Tq,D], k and v [B,Tk,D], got ", q.shape(), ", ", k.shape(), ", ", v.shape());
  require(o.heads >= 1 && q.dim(2) > 0 && q.dim(2) % o.heads == 0, where, ": heads must divide D = ", q.dim(2),
          ", got ", o.heads);
  require(o.key_lengths.empty() || static_cast<int64_t>(o.key_lengths.size()) == q.dim(0), where,
          ": expected one length for each of ", q.dim(0), " sequences, got ", o.key_lengths.size());
  for (const int32_t length : o.key_lengths) {
    require(length >= 0 && length <= k.dim(1), where, ": key lengths must be in [0, ", k.dim(1), "], got ", length);
  }
  require(o.dropout >= 0 && o.dropout < 1, where, ": dropout must be in [0, 1), got ", o.dropout);
  require(o.dropout == 0 || o.random, where, ": dropout needs a stream of random numbers, got none");
  const int64_t depth = q.dim(2) / o.heads;
  return {.batch = static_cast<size_t>(q.dim(0)),
          .heads = static_cast<size_t>(o.heads),
          .queries = static_cast<size_t>(q.dim(1)),
          .keys = static_cast<size_t>(k.dim(1)),
          .depth = static_cast<size_t>(depth),
          .scale = o.scale != 0 ? o.scale : 1 / std::sqrt(static_cast<real>(depth)),
          .key_lengths = o.key_lengths.empty() ? nullptr : o.key_lengths.data(),
          .causal = o.causal,
          .window = o.window,
          .window_stays = o.window_stays,
          .keep = 1 - o.dropout,
          .dropout_key = 0,
          .q = q.value().data(),
          .k = k.value().data(),
          .v = v.value().data()};
}

}  // namespace

Var scaled_dot_product_attention(const Var& q, const Var& k, const Var& v, const AttentionOptions& options) {
  kernels::AttentionProblem problem = attention_problem(q, k, v, options);
  if (options.dropout > 0) problem.dropout_key = options.random->next_key();
  Tensor out(q.shape()), log_sum({q.dim(0), options.heads, q.dim(1)});
  kernels::attention_forward(problem, out.data(), log_sum.data());
  if (options.weights) {
    *options.weights = Tensor({q.dim(0), options.heads, q.dim(1), k.dim(1)});
    kernels::attention_weights(problem, log_sum.data(), options.weights->data());
  }
  if (!recording(q, k, v)) return out;
  return record(out, [q = q.slot(), k = k.slot(), v = v.slot(), qt = q.value(), kt = k.value(), vt = v.value(), out,
                      log_sum, lengths = options.key_lengths, problem](Tensor dy) mutable {
    if (problem.key_lengths) problem.key_lengths = lengths.data();
    Tensor dq(qt.shape()), dk(kt.shape()), dv(vt.shape());
    kernels::attention_backward(problem, out.data(), log_sum.data(), dy.data(), dq.data(), dk.data(), dv.data());
    q.add(std::move(dq));
    k.add(std::move(dk));
    v.add(std::move(dv));
  });
}

Var additive_score(const Var& q, const Var& k, const Var& v) {
  require(q.defined() && k.defined() && v.defined() && q.rank() == 3 && k.rank() == 3 && q.dim(0) == k.dim(0) &&
              q.dim(2) == k.dim(2) && v.shape() == Shape{q.dim(2)},
          "additive_score: expected q [B,Tq,H], k [B,Tk,H] and v [H], got ", q.shape(), ", ", k.shape(), ", ",
          v.shape());
  const kernels::AdditiveProblem problem{.batch = static_cast<size_t>(q.dim(0)),
                                         .queries = static_cast<size_t>(q.dim(1)),
                                         .keys = static_cast<size_t>(k.dim(1)),
                                         .hidden = static_cast<size_t>(q.dim(2)),
                                         .q = q.value().data(),
                                         .k = k.value().data(),
                                         .v = v.value().data()};
  Tensor energies({q.dim(0), q.dim(1), k.dim(1)});
  kernels::additive_forward(problem, energies.data());
  if (!recording(q, k, v)) return energies;
  return record(std::move(energies), [q = q.slot(), k = k.slot(), v = v.slot(), qt = q.value(), kt = k.value(),
                                      vt = v.value(), problem](Tensor de) {
    const auto sum_of = [](const Slot& slot, const Tensor& like) {
      return slot.needed() ? slot.buffer() : Tensor::zeros(like.shape());
    };
    Tensor dq(qt.shape()), dk = sum_of(k, kt), dv = sum_of(v, vt);
    kernels::additive_backward(problem, de.data(), dq.data(), dk.data(), dv.data());
    q.add(std::move(dq));
  });
}

Var location_score(const Var& q, const Var& k, const Var& v, const Var& previous, const Var& filters,
                   const Var& location) {
  const char* where = "location_score";
  require(q.defined() && k.defined() && v.defined() && q.rank() == 3 && k.rank() == 3 && q.dim(0) == k.dim(0) &&
              q.dim(1) == 1 && q.dim(2) == k.dim(2) && v.shape() == Shape{q.dim(2)},
          where, ": expected q [B,1,H], k [B,Tk,H] and v [H], got ", q.shape(), ", ", k.shape(), ", ", v.shape());
  require(previous.defined() && previous.shape() == Shape{k.dim(0), k.dim(1)}, where, ": expected previous weights [",
          k.dim(0), ",", k.dim(1), "], got ", previous.shape());
  require(filters.defined() && location.defined() && filters.rank() == 2 && filters.dim(1) % 2 == 1 &&
              location.shape() == Shape{filters.dim(0), q.dim(2)},
          where, ": expected filters [C,2r + 1] and location [C,", q.dim(2), "], got ", filters.shape(), " and ",
          location.shape());
  const kernels::LocationProblem problem{.batch = static_cast<size_t>(q.dim(0)),
                                         .keys = static_cast<size_t>(k.dim(1)),
                                         .hidden = static_cast<size_t>(q.dim(2)),
                                         .filters = static_cast<size_t>(filters.dim(0)),
                                         .reach = static_cast<size_t>(filters.dim(1) / 2),
                                         .q = q.value().data(),
                                         .k = k.value().data(),
                                         .v = v.value().data(),
                                         .previous = previous.value().data(),
                                         .f = filters.value().data(),
                                         .z = location.value().data()};
  Tensor energies({q.dim(0), 1, k.dim(1)});
  kernels::location_forward(problem, energies.data());
  if (!recording(q, k, v, previous, filters, location)) return energies;
  return record(
      std::move(energies),
      [slots = std::array{q.slot(), k.slot(), v.slot(), previous.slot(), filters.slot(), location.slot()},
       kept = std::array{q.value(), k.value(), v.value(), previous.value(), filters.value(), location.value()},
       problem](Tensor de) {
        const auto sum_of = [&](size_t i) {
          return slots[i].needed() ? slots[i].buffer() : Tensor::zeros(kept[i].shape());
        };
        Tensor dq(kept[0].shape()), dk = sum_of(1), dv = sum_of(2), dprevious(kept[3].shape()), df = sum_of(4),
                                    dz = sum_of(5);
        kernels::location_backward(problem, de.data(),
                                   {dq.data(), dk.data(), dv.data(), dprevious.data(), df.data(), dz.data()});
        slots[0].add(std::move(dq));
        slots[3].add(std::move(dprevious));
      });
}

}  // namespace attend
