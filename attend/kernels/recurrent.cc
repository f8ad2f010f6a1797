#include "attend/kernels/recurrent.h"

#include <algorithm>
#include <vector>

#include "attend/base/memory.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/recurrent.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/gemm-inl.h"
#include "attend/kernels/math-inl.h"
#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Multiply-adds per step below which one thread does all: a barrier costs about as much as 2^17 of them.
constexpr size_t kTeamWork = size_t{1} << 19;

/// The units (columns of the state) that one member of the team computes: whole panels.
struct Units {
  size_t begin, end;
  Units(const Team& team, size_t hidden) {
    const size_t count = panels(hidden), size = static_cast<size_t>(team.size), m = static_cast<size_t>(team.member);
    begin = std::min(hidden, count * m / size * kPanel);
    end = std::min(hidden, count * (m + 1) / size * kPanel);
  }
  size_t count() const { return end - begin; }
};

/// One step: where its rows lie.
struct Step {
  real *gates, *candidate, *h, *c;
  const real *h_before, *c_before;
  size_t t, rows;  // rows beyond `rows` have ended (or, in reverse, not started)
};

class Walker {
 public:
  explicit Walker(const Recurrence& r) : r_(r), width_(gates_of(r.cell) * r.hidden), rows_(r.steps, r.batch) {
    if (!r.lengths) return;
    for (size_t t = 0; t < r.steps; ++t) {
      while (rows_[t] > 0 && static_cast<size_t>(r.lengths[rows_[t] - 1]) <= t) --rows_[t];
    }
  }

  /// The i-th step in the order of computation.
  Step step(size_t i) const {
    const size_t t = r_.reverse ? r_.steps - 1 - i : i, slot = r_.batch * r_.hidden;
    const size_t from = (r_.reverse ? t + 1 : t) * slot, to = (r_.reverse ? t : t + 1) * slot;
    const bool cells = r_.cell_states != nullptr;
    return {r_.gates + t * r_.batch * width_,
            r_.candidate ? r_.candidate + t * slot : nullptr,
            r_.hidden_states + to,
            cells ? r_.cell_states + to : nullptr,
            r_.hidden_states + from,
            cells ? r_.cell_states + from : nullptr,
            t,
            rows_[t]};
  }

  bool active(const Step& s, size_t row) const {
    return row < s.rows && (!r_.lengths || static_cast<size_t>(r_.lengths[row]) > s.t);
  }
  size_t width() const { return width_; }

 private:
  const Recurrence& r_;
  size_t width_;
  std::vector<size_t> rows_;
};

void rnn_row(const Units& u, const Step& s, size_t row, size_t hidden) {
  real *a = s.gates + row * hidden + u.begin, *h = s.h + row * hidden + u.begin;
  walk(u.count(), [&](size_t i, auto load, auto store, auto) HWY_ATTR {
    const Reals v = tanh_of(load(a + i));
    store(v, a + i);
    store(v, h + i);
  });
}

void gru_row(const Units& u, const Step& s, size_t row, size_t hidden, const real* candidate_bias) {
  real* gates = s.gates + row * 3 * hidden + u.begin;
  real* candidate = s.candidate + row * hidden + u.begin;
  real* h = s.h + row * hidden + u.begin;
  const real *before = s.h_before + row * hidden + u.begin, *bias = candidate_bias + u.begin;
  walk(u.count(), [&](size_t i, auto load, auto store, auto) HWY_ATTR {
    real *ar = gates + i, *az = ar + hidden, *an = az + hidden;
    const Reals r = sigmoid_of(load(ar)), z = sigmoid_of(load(az));
    const Reals recurrent = hn::Add(load(candidate + i), load(bias + i));
    const Reals n = tanh_of(hn::MulAdd(r, recurrent, load(an)));
    store(r, ar);
    store(z, az);
    store(n, an);
    store(recurrent, candidate + i);
    store(hn::MulAdd(z, hn::Sub(load(before + i), n), n), h + i);
  });
}

void lstm_row(const Units& u, const Step& s, size_t row, size_t hidden) {
  real* gates = s.gates + row * 4 * hidden + u.begin;
  real *h = s.h + row * hidden + u.begin, *c = s.c + row * hidden + u.begin;
  const real* before = s.c_before + row * hidden + u.begin;
  walk(u.count(), [&](size_t k, auto load, auto store, auto) HWY_ATTR {
    real *ai = gates + k, *af = ai + hidden, *ag = af + hidden, *ao = ag + hidden;
    const Reals i = sigmoid_of(load(ai)), f = sigmoid_of(load(af)), g = tanh_of(load(ag)), o = sigmoid_of(load(ao));
    const Reals cell = hn::MulAdd(f, load(before + k), hn::Mul(i, g));
    store(i, ai);
    store(f, af);
    store(g, ag);
    store(o, ao);
    store(cell, c + k);
    store(hn::Mul(o, tanh_of(cell)), h + k);
  });
}

void carry_row(const Recurrence& r, const Units& u, const Step& s, size_t row) {
  const size_t at = row * r.hidden + u.begin;
  std::copy_n(s.h_before + at, u.count(), s.h + at);
  if (s.c) std::copy_n(s.c_before + at, u.count(), s.c + at);
}

void forward_step(const Recurrence& r, const Walker& walker, const Units& u, const Step& s, const real* packed) {
  const size_t H = r.hidden, G = gates_of(r.cell), matrix = packed_size(H, H);
  for (size_t g = 0; g < G; ++g) {
    const bool candidate = r.cell == Cell::gru && g == 2;
    real* out = candidate ? s.candidate + u.begin : s.gates + g * H + u.begin;
    packed_product(s.h_before, H, packed + g * matrix + u.begin * H, H, s.rows, u.count(), H, out,
                   candidate ? H : walker.width(), !candidate);
  }
  for (size_t row = 0; row < r.batch; ++row) {
    if (!walker.active(s, row)) {
      carry_row(r, u, s, row);
    } else if (r.cell == Cell::rnn) {
      rnn_row(u, s, row, H);
    } else if (r.cell == Cell::gru) {
      gru_row(u, s, row, H, r.candidate_bias);
    } else {
      lstm_row(u, s, row, H);
    }
  }
}

template <class Body>
void with_team(const Recurrence& r, Body&& body) {
  const bool alone = r.batch * gates_of(r.cell) * r.hidden * r.hidden < kTeamWork;
  if (alone) return body(Team{});
  parallel_team(body);
}

// Forms of U in PackedWeights, besides the two of a plain product.
constexpr size_t kGates = packed_form(2), kGateGradients = packed_form(3);

/// Where U is kept from step to step, if it is called one step at a time, or from source to source by whoever keeps all weights.
PackedWeights* scope_for(const Recurrence& r) {
  const bool often = r.steps == 1 || SteadyRows::active();
  return often && r.version != 0 ? PackedWeights::current() : nullptr;
}

void RecurrentForward(const Recurrence& r) {
  const size_t H = r.hidden, G = gates_of(r.cell), matrix = packed_size(H, H);
  PackedWeights* const scope = scope_for(r);
  const memory::Scratch fresh(scope ? 0 : G * matrix);
  // Uᵀ of some units, gate by gate.
  const auto pack_units = [&](const Units& u, real* out) {
    for (size_t g = 0; g < G; ++g) {
      pack(r.weights + (g * H + u.begin) * H, H, true, H, u.count(), out + g * matrix + u.begin * H);
    }
  };
  const real* packed =
      scope ? scope->find({r.version, kGates}, G * matrix, [&](real* out) { pack_units(Units(Team{}, H), out); })
            : fresh.data();
  const Walker walker(r);
  with_team(r, [&](const Team& team) {
    const Units u(team, H);
    if (!scope) pack_units(u, fresh.data());  // each member packs what it will use
    for (size_t i = 0; i < r.steps; ++i) {
      forward_step(r, walker, u, walker.step(i), packed);
      team.barrier();
    }
  });
}

/// What a row of the backward pass needs besides its step. `dh` and `dc` are that row's, at the first unit.
struct RowGradient {
  const real* dy;
  real *dh, *dc;
};

void rnn_row_backward(const Units& u, const Step& s, size_t row, size_t hidden, const RowGradient& g) {
  real* a = s.gates + row * hidden + u.begin;
  walk(u.count(), [&](size_t i, auto load, auto store, auto) HWY_ATTR {
    const Reals h = load(a + i);
    Reals dh = load(g.dh + i);
    if (g.dy) dh = hn::Add(dh, load(g.dy + i));
    store(hn::Mul(dh, hn::NegMulAdd(h, h, hn::Set(Real(), 1))), a + i);
    store(hn::Zero(Real()), g.dh + i);
  });
}

void gru_row_backward(const Units& u, const Step& s, size_t row, size_t hidden, const RowGradient& g) {
  real* gates = s.gates + row * 3 * hidden + u.begin;
  real* candidate = s.candidate + row * hidden + u.begin;
  const real* before = s.h_before + row * hidden + u.begin;
  walk(u.count(), [&](size_t i, auto load, auto store, auto) HWY_ATTR {
    const Reals one = hn::Set(Real(), 1);
    real *ar = gates + i, *az = ar + hidden, *an = az + hidden;
    const Reals r = load(ar), z = load(az), n = load(an);
    Reals dh = load(g.dh + i);
    if (g.dy) dh = hn::Add(dh, load(g.dy + i));
    const Reals dn = hn::Mul(hn::Mul(dh, hn::Sub(one, z)), hn::NegMulAdd(n, n, one));
    const Reals dz = hn::Mul(hn::Mul(dh, hn::Sub(load(before + i), n)), hn::Mul(z, hn::Sub(one, z)));
    const Reals dr = hn::Mul(hn::Mul(dn, load(candidate + i)), hn::Mul(r, hn::Sub(one, r)));
    store(dr, ar);
    store(dz, az);
    store(dn, an);
    store(hn::Mul(dn, r), candidate + i);
    store(hn::Mul(dh, z), g.dh + i);
  });
}

void lstm_row_backward(const Units& u, const Step& s, size_t row, size_t hidden, const RowGradient& g) {
  real* gates = s.gates + row * 4 * hidden + u.begin;
  const real *c = s.c + row * hidden + u.begin, *before = s.c_before + row * hidden + u.begin;
  walk(u.count(), [&](size_t k, auto load, auto store, auto) HWY_ATTR {
    const Reals one = hn::Set(Real(), 1);
    real *ai = gates + k, *af = ai + hidden, *ag = af + hidden, *ao = ag + hidden;
    const Reals i = load(ai), f = load(af), cand = load(ag), o = load(ao), t = tanh_of(load(c + k));
    Reals dh = load(g.dh + k);
    if (g.dy) dh = hn::Add(dh, load(g.dy + k));
    const Reals dht = hn::Mul(dh, o);
    const Reals dc = hn::Add(load(g.dc + k), hn::NegMulAdd(hn::Mul(dht, t), t, dht));
    store(hn::Mul(hn::Mul(dc, cand), hn::Mul(i, hn::Sub(one, i))), ai);
    store(hn::Mul(hn::Mul(dc, load(before + k)), hn::Mul(f, hn::Sub(one, f))), af);
    store(hn::Mul(hn::Mul(dc, i), hn::NegMulAdd(cand, cand, one)), ag);
    store(hn::Mul(hn::Mul(dht, t), hn::Sub(one, o)), ao);
    store(hn::Mul(dc, f), g.dc + k);
    store(hn::Zero(Real()), g.dh + k);
  });
}

void end_row_backward(const Recurrence& r, const Units& u, const Step& s, size_t row) {
  const size_t G = gates_of(r.cell);
  for (size_t g = 0; g < G; ++g) std::fill_n(s.gates + (row * G + g) * r.hidden + u.begin, u.count(), real{0});
  if (s.candidate) std::fill_n(s.candidate + row * r.hidden + u.begin, u.count(), real{0});
}

void RecurrentBackward(const Recurrence& r, const real* dy, real* dh, real* dc) {
  const size_t H = r.hidden, B = r.batch, G = gates_of(r.cell);
  // The gru's candidate has its own gradient: its rows of U are packed and multiplied separately from r's and z's.
  const size_t joint = r.cell == Cell::gru ? 2 : G;
  const size_t candidate_at = packed_size(joint * H, H), size = candidate_at + packed_size(H, H);
  PackedWeights* const scope = scope_for(r);
  const memory::Scratch fresh(scope ? 0 : size);
  const auto pack_units = [&](const Units& u, real* out) {
    pack(r.weights + u.begin, H, false, joint * H, u.count(), out + u.begin * joint * H);
    if (joint < G) {
      pack(r.weights + joint * H * H + u.begin, H, false, H, u.count(), out + candidate_at + u.begin * H);
    }
  };
  const real* packed =
      scope ? scope->find({r.version, kGateGradients}, size, [&](real* out) { pack_units(Units(Team{}, H), out); })
            : fresh.data();
  const real* packed_candidate = packed + candidate_at;
  const Walker walker(r);
  with_team(r, [&](const Team& team) {
    const Units u(team, H);
    if (!scope) pack_units(u, fresh.data());
    for (size_t i = r.steps; i-- > 0;) {
      const Step s = walker.step(i);
      for (size_t row = 0; row < B; ++row) {
        const size_t at = row * H + u.begin;
        const RowGradient g{dy ? dy + s.t * B * H + at : nullptr, dh + at, dc ? dc + at : nullptr};
        if (!walker.active(s, row)) {
          end_row_backward(r, u, s, row);
        } else if (r.cell == Cell::rnn) {
          rnn_row_backward(u, s, row, H, g);
        } else if (r.cell == Cell::gru) {
          gru_row_backward(u, s, row, H, g);
        } else {
          lstm_row_backward(u, s, row, H, g);
        }
      }
      team.barrier();
      packed_product(s.gates, G * H, packed + u.begin * joint * H, joint * H, s.rows, u.count(), joint * H,
                     dh + u.begin, H, true);
      if (joint < G) {
        packed_product(s.candidate, H, packed_candidate + u.begin * H, H, s.rows, u.count(), H, dh + u.begin, H, true);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(RecurrentForward);
HWY_EXPORT(RecurrentBackward);

void recurrent_forward(const Recurrence& r) { HWY_DYNAMIC_DISPATCH(RecurrentForward)(r); }

void recurrent_backward(const Recurrence& r, const real* dy, real* dh, real* dc) {
  HWY_DYNAMIC_DISPATCH(RecurrentBackward)(r, dy, dh, dc);
}

}  // namespace attend::kernels
#endif
