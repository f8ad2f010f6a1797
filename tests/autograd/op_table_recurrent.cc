#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

/// Every sequence on its own, step by step, unit by unit.
struct Loops {
  Cell cell;
  int64_t T, B, I, H;
  std::vector<int32_t> lengths;
  bool reverse;

  /// x, W, U, b, [cₙ], h0, [c0]
  Arrays operator()(const Arrays& in) const {
    const bool gru = cell == Cell::gru, lstm = cell == Cell::lstm;
    const Array &x = in[0], &W = in[1], &U = in[2], &bias = in[3];
    const Array& candidate = in[gru ? 4 : 3];
    const Array &h0 = in[gru ? 5 : 4], &c0 = in[lstm ? 5 : 4];
    Array y({T, B, H}), h_last({B, H}), c_last({B, H});
    for (int64_t b = 0; b < B; ++b) {
      const int64_t length = lengths.empty() ? T : lengths[static_cast<size_t>(b)];
      std::vector<double> h(static_cast<size_t>(H)), c(static_cast<size_t>(H));
      for (int64_t u = 0; u < H; ++u) h[static_cast<size_t>(u)] = h0(b, u), c[static_cast<size_t>(u)] = c0(b, u);
      for (int64_t step = 0; step < length; ++step) {
        const int64_t t = reverse ? length - 1 - step : step;
        const auto from_input = [&](int64_t row) {
          double sum = bias(row);
          for (int64_t i = 0; i < I; ++i) sum += W(row, i) * x(t, b, i);
          return sum;
        };
        const auto from_state = [&](int64_t row) {
          double sum = 0;
          for (int64_t i = 0; i < H; ++i) sum += U(row, i) * h[static_cast<size_t>(i)];
          return sum;
        };
        std::vector<double> next(h.size());
        for (int64_t u = 0; u < H; ++u) {
          const size_t at = static_cast<size_t>(u);
          const auto gate = [&](int64_t g) { return from_input(g * H + u) + from_state(g * H + u); };
          if (lstm) {
            const double i = sigma(gate(0)), f = sigma(gate(1)), g = std::tanh(gate(2)), o = sigma(gate(3));
            c[at] = f * c[at] + i * g;
            next[at] = o * std::tanh(c[at]);
          } else if (gru) {
            const double r = sigma(gate(0)), z = sigma(gate(1));
            const double n = std::tanh(from_input(2 * H + u) + r * (from_state(2 * H + u) + candidate(u)));
            next[at] = (1 - z) * n + z * h[at];
          } else {
            next[at] = std::tanh(gate(0));
          }
          y(t, b, u) = next[at];
        }
        h = next;
      }
      for (int64_t u = 0; u < H; ++u)
        h_last(b, u) = h[static_cast<size_t>(u)], c_last(b, u) = c[static_cast<size_t>(u)];
    }
    return lstm ? Arrays{y, h_last, c_last} : Arrays{y, h_last};
  }
};

struct CellRow {
  const char* name;
  Cell cell;
};

/// The same from gates [T,B,G·H] that are made already: as if x were the gates, and W the identity.
OpRow recurrence_row(const CellRow& c, const std::vector<int32_t>& lengths, bool reverse) {
  const int64_t T = 4, B = 3, H = 9, G = static_cast<int64_t>(kernels::gates_of(c.cell));
  const bool gru = c.cell == Cell::gru, lstm = c.cell == Cell::lstm;
  std::vector<Shape> shapes{{T, B, G * H}, {G * H, H}};
  if (gru) shapes.push_back({H});
  shapes.push_back({B, H});
  if (lstm) shapes.push_back({B, H});
  OpRow row{std::string("recurrence ") + c.name + (reverse ? " reverse" : " forward"), shapes,
            [=, cell = c.cell](const Vars& x) {
              const RecurrentState initial{x[gru ? 3 : 2], lstm ? x[3] : Var()};
              const RecurrentOutput out =
                  recurrence(cell, x[0], x[1], gru ? x[2] : Var(), initial, lengths, reverse);
              return lstm ? Vars{out.y, out.last.h, out.last.c} : Vars{out.y, out.last.h};
            },
            [=, cell = c.cell](const Arrays& in) {
              Array identity({G * H, G * H});
              for (int64_t i = 0; i < G * H; ++i) identity(i, i) = 1;
              Arrays all{in[0], identity, in[1], Array({G * H})};
              all.insert(all.end(), in.begin() + 2, in.end());
              return Loops{cell, T, B, G * H, H, lengths, reverse}(all);
            }};
  row.prepare = [](double x) { return x / 2; };  // gates away from saturation
  row.refusals = {{[=, cell = c.cell] {
                     recurrence(cell, Tensor::zeros({T, B, G * H + 1}), Tensor::zeros({G * H, H}),
                                gru ? Var(Tensor::zeros({H})) : Var());
                   },
                   std::string(c.name) + ": expected gates [T,B,"},
                  {[=, cell = c.cell] {
                     recurrence(cell, Tensor::zeros({T, B, G * H}), Tensor::zeros({G * H, H}),
                                gru ? Var() : Var(Tensor::zeros({H})));
                   },
                   "candidate_bias"}};
  return row;
}

}  // namespace

void add_recurrent_rows(std::vector<OpRow>& table) {
  const int64_t T = 5, B = 3, I = 6, H = 19;
  for (const CellRow& c : {CellRow{"rnn", Cell::rnn}, CellRow{"gru", Cell::gru}, CellRow{"lstm", Cell::lstm}}) {
    const bool gru = c.cell == Cell::gru, lstm = c.cell == Cell::lstm;
    const int64_t G = static_cast<int64_t>(kernels::gates_of(c.cell));
    std::vector<Shape> shapes{{T, B, I}, {G * H, I}, {G * H, H}, {G * H}};
    if (gru) shapes.push_back({H});
    shapes.push_back({B, H});
    if (lstm) shapes.push_back({B, H});
    for (const auto& [kind, lengths] :
         {std::pair{"full", std::vector<int32_t>{}}, {"sorted", {5, 3, 1}}, {"ragged", {2, 5, 4}}}) {
      for (const bool reverse : {false, true}) {
        const auto run = [=, cell = c.cell, lengths = lengths](const Vars& x) {
          const RecurrentWeights w{x[1], x[2], x[3], gru ? x[4] : Var()};
          const RecurrentState initial{x[gru ? 5 : 4], lstm ? x[5] : Var()};
          const RecurrentOutput out = recurrent(cell, w, x[0], initial, lengths, reverse);
          return lstm ? Vars{out.y, out.last.h, out.last.c} : Vars{out.y, out.last.h};
        };
        OpRow row{std::string("recurrent ") + c.name + " " + kind + (reverse ? " reverse" : " forward"), shapes, run,
                  Loops{c.cell, T, B, I, H, lengths, reverse}};
        row.prepare = [](double x) { return x / 2; };  // gates away from saturation
        row.refusals = {{[cell = c.cell] {
                           recurrent(cell, {Tensor::zeros({8, 3}), Tensor::zeros({9, 2}), Tensor::zeros({8}), {}},
                                     Tensor::zeros({2, 2, 3}));
                         },
                         std::string(c.name) + ": expected state weights"},
                        {[=, cell = c.cell] {
                           recurrent(cell,
                                     {Tensor::zeros({G * 2, 3}), Tensor::zeros({G * 2, 2}), Tensor::zeros({G * 2}),
                                      gru ? Var(Tensor::zeros({2})) : Var()},
                                     Tensor::zeros({4, 2, 3}), {}, {4, 5});
                         },
                         "lengths must be in [1, 4], got 5"},
                        {[=, cell = c.cell] {
                           recurrent(cell,
                                     {Tensor::zeros({G * 2, 3}), Tensor::zeros({G * 2, 2}), Tensor::zeros({G * 2}),
                                      gru ? Var(Tensor::zeros({2})) : Var()},
                                     Tensor::zeros({4, 2, 5}));
                         },
                         "input weights"}};
        table.push_back(row);
      }
    }
    for (const bool reverse : {false, true}) table.push_back(recurrence_row(c, {2, 4, 3}, reverse));
  }
}

}  // namespace attend::test
