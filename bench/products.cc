// Products, recurrent networks, attention, the additive score.
#include <array>

#include "attend/base/memory.h"
#include "attend/kernels/gemm.h"
#include "bench/inputs.h"
#include "bench/row.h"

namespace attend::bench {
namespace {

Row linear_row(bool backward) {
  const int64_t N = 1280, I = 256, O = 1024;
  Row row{.name = backward ? "linear/fb" : "linear/forward",
          .work = (backward ? 6.0 : 2.0) * N * I * O,
          .percent = backward ? 85 : 92,
          .peer = 1.0};
  row.prepare = [=]() -> std::function<void()> {
    const Var x = Var::leaf(normal({N, I}, 1, 1)), w = Var::leaf(normal({O, I}, 0.06, 2)),
              b = Var::leaf(normal({O}, 1, 3));
    const Tensor y = linear(x, w, b).value(), seed = normal({N, O}, 1, 4);
    for (const int64_t at : {int64_t{0}, N / 2, N - 1}) {
      double sum = b.value().data()[at % O];
      for (int64_t i = 0; i < I; ++i) sum += double{x.value().data()[at * I + i]} * w.value().data()[at % O * I + i];
      require_near("linear", y.data()[at * O + at % O], sum, 1e-4);
    }
    if (!backward) return [=] { linear(x, w, b); };
    auto run = forward_backward({x, w, b}, seed, [=] { return linear(x, w, b); });
    run();
    require_slope("linear", w.value(), w.gradient(), normal({O, I}, 0.01, 5), 1.0,
                  [&](const Tensor& moved) { return dot(linear(x.value(), moved, b.value()).value(), seed); });
    return run;
  };
  return row;
}

struct Recurrent {
  Cell cell;
  int64_t T, B, H;
  RecurrentWeights weights;
  Var x;

  Recurrent(Cell c, int64_t steps, int64_t batch, int64_t hidden) : cell(c), T(steps), B(batch), H(hidden) {
    const int64_t width = static_cast<int64_t>(kernels::gates_of(cell)) * H;
    const double scale = 1 / std::sqrt(static_cast<double>(H));
    weights = {Var::leaf(normal({width, H}, scale, 1)), Var::leaf(normal({width, H}, scale, 2)),
               Var::leaf(normal({width}, 0.1, 3)), cell == Cell::gru ? Var::leaf(normal({H}, 0.1, 4)) : Var()};
    x = Var::leaf(normal({T, B, H}, 1, 5));
  }

  /// The same network out of small ops, for the check.
  Tensor stepwise(const Tensor& input) const {
    const auto part = [&](const Var& all, int64_t g) { return slice(all, 1, g * H, (g + 1) * H); };
    Var h = Tensor::zeros({B, H}), c = Tensor::zeros({B, H});
    for (int64_t t = 0; t < T; ++t) {
      const Var a = linear(Var(input[t]), weights.input.detach(), weights.bias.detach());
      const Var r = linear(h, weights.state.detach(), Var());
      if (cell == Cell::lstm) {
        const Var sum = a + r;
        c = sigmoid(part(sum, 1)) * c + sigmoid(part(sum, 0)) * tanh(part(sum, 2));
        h = sigmoid(part(sum, 3)) * tanh(c);
      } else {
        const Var reset = sigmoid(part(a, 0) + part(r, 0)), z = sigmoid(part(a, 1) + part(r, 1));
        const Var n = tanh(part(a, 2) + reset * (part(r, 2) + weights.candidate_bias.detach()));
        h = n + z * (h - n);
      }
    }
    return h.value();
  }
};

Row recurrent_row(Cell cell, int64_t H, int64_t B, bool backward) {
  const bool is_lstm = cell == Cell::lstm, small = B == 8;
  const int64_t T = 40;
  const double gates = is_lstm ? 4 : 3;
  Row row{.name = std::string(is_lstm ? "lstm" : "gru") + "/H" + std::to_string(H) + "/B" + std::to_string(B) +
                  (backward ? "/fb" : "/forward"),
          .work = (backward ? 3 : 1) * 2.0 * static_cast<double>(T * B) * gates * static_cast<double>(H * 2 * H)};
  row.percent = small ? (backward ? 50 : 60) : is_lstm ? (backward ? 75 : 85) : (backward ? 72 : 80);
  row.peer = small ? 1.5 : is_lstm ? 1.05 : 1.3;
  row.prepare = [=]() -> std::function<void()> {
    const Recurrent net(cell, T, B, H);
    const Tensor expected = net.stepwise(net.x.value());
    const Tensor got = recurrent(cell, net.weights, net.x).last.h.value();
    for (size_t i = 0; i < expected.size(); ++i)
      require_near("the recurrent state", got.data()[i], expected.data()[i], 1e-4);
    if (!backward) return [=] { recurrent(cell, net.weights, net.x); };
    const Tensor seed = normal({T, B, H}, 1, 6);
    const RecurrentWeights& w = net.weights;
    std::vector<Var> leaves{w.input, w.state, w.bias, net.x};
    if (cell == Cell::gru) leaves.push_back(w.candidate_bias);
    auto run = forward_backward(leaves, seed, [=] { return recurrent(cell, net.weights, net.x).y; });
    run();
    require_slope("the recurrent network", net.x.value(), net.x.gradient(), normal({T, B, H}, 0.1, 7), 0.05,
                  [&](const Tensor& moved) { return dot(recurrent(cell, net.weights, moved).y.value(), seed); });
    return run;
  };
  return row;
}

constexpr int64_t kHeads = 8, kDepth = 64, kColumns = kHeads * kDepth;

/// One output row by plain sums, in double.
void check_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out, bool causal) {
  const int64_t n = q.dim(1), i = n * 2 / 3, h = 5;
  std::vector<double> w(static_cast<size_t>(n));
  double sum = 0;
  const auto at = [&](const Tensor& t, int64_t row, int64_t d) {
    return double{t.data()[row * kColumns + h * kDepth + d]};
  };
  const int64_t seen = causal ? i + 1 : n;
  for (int64_t j = 0; j < seen; ++j) {
    double e = 0;
    for (int64_t d = 0; d < kDepth; ++d) e += at(q, i, d) * at(k, j, d);
    sum += w[static_cast<size_t>(j)] = std::exp(e / 8);
  }
  for (const int64_t d : {int64_t{0}, kDepth - 1}) {
    double y = 0;
    for (int64_t j = 0; j < seen; ++j) y += w[static_cast<size_t>(j)] / sum * at(v, j, d);
    require_near("attention", at(out, i, d), y, 1e-4);
  }
}

Row attention_row(int64_t n, bool causal, bool backward) {
  const int64_t B = std::max<int64_t>(1, 4096 / n);
  const double forward = 4.0 * static_cast<double>(B * kHeads * n * n * kDepth) / (causal ? 2 : 1);
  Row row{.name = "attention/n" + std::to_string(n) + (causal ? "/causal_" : "/") + (backward ? "fb" : "forward"),
          .work = (backward ? 3.5 : 1) * forward,
          .peer = causal ? 1.2 : 1.0};
  if (!causal) row.percent = backward ? 70 : 75;
  row.prepare = [=]() -> std::function<void()> {
    const Shape shape{B, n, kColumns};
    const Var q = Var::leaf(normal(shape, 1, 1)), k = Var::leaf(normal(shape, 1, 2)),
              v = Var::leaf(normal(shape, 1, 3));
    const AttentionOptions options{.heads = kHeads, .causal = causal};
    const auto forward_pass = [=] { return scaled_dot_product_attention(q, k, v, options); };
    check_attention(q.value(), k.value(), v.value(), forward_pass().value(), causal);
    if (!backward) return [=] { forward_pass(); };
    const Tensor seed = normal(shape, 1, 4);
    auto run = forward_backward({q, k, v}, seed, forward_pass);
    run();
    require_slope("attention", q.value(), q.gradient(), normal(shape, 1, 5), 0.05, [&](const Tensor& moved) {
      return dot(scaled_dot_product_attention(moved, k.value(), v.value(), options).value(), seed);
    });
    return run;
  };
  return row;
}

/// Peak of the pool for forward + backward beyond what q, k, v and the seed take.
double attention_memory(int64_t n) {
  const Shape shape{1, n, kColumns};
  Var q = Var::leaf(normal(shape, 1, 1)), k = Var::leaf(normal(shape, 1, 2)), v = Var::leaf(normal(shape, 1, 3));
  const Tensor seed = normal(shape, 1, 4);
  memory::reset_peak();
  const size_t before = memory::usage().in_use;
  Tape tape;
  tape.backward(scaled_dot_product_attention(q, k, v, {.heads = kHeads}), seed);
  return static_cast<double>(memory::usage().peak - before) / (1 << 20);
}

Row attention_memory_row(int64_t n) {
  Row row{.name = "attention/memory/n" + std::to_string(n), .unit = Unit::mebibytes};
  row.value = [n] { return attention_memory(n); };
  if (n == 8192) {
    row.most = 2.2 * attention_memory(n / 2);  // linear: twice the length, about twice the memory
  }
  return row;
}

Row additive_row(int64_t T) {
  const int64_t B = 64, H = 256;
  // Bound by the evaluation of B·T·T·H hyperbolic tangents, twice: neither limit of the machine says much about it.
  Row row{.name = "additive/T" + std::to_string(T), .unit = Unit::milliseconds, .peer = 4.0, .composed = 4.0};
  row.prepare = [=]() -> std::function<void()> {
    const Var q = Var::leaf(normal({B, T, H}, 1, 1)), k = Var::leaf(normal({B, T, H}, 1, 2)),
              v = Var::leaf(normal({H}, 1, 3));
    const Tensor e = additive_score(q, k, v).value(), seed = normal({B, T, T}, 1, 4);
    double sum = 0;
    for (int64_t h = 0; h < H; ++h) {
      sum += double{v.value().data()[h]} * std::tanh(double{q.value().data()[h]} + k.value().data()[(T - 1) * H + h]);
    }
    require_near("the additive score", e.data()[T - 1], sum, 1e-4);
    auto run = forward_backward({q, k, v}, seed, [=] { return additive_score(q, k, v); });
    run();
    require_slope("the additive score", k.value(), k.gradient(), normal({B, T, H}, 1, 5), 0.02,
                  [&](const Tensor& moved) { return dot(additive_score(q.value(), moved, v.value()).value(), seed); });
    return run;
  };
  row.prepare_composed = [=]() -> std::function<void()> {
    const Var q = Var::leaf(normal({B, T, 1, H}, 1, 1)), k = Var::leaf(normal({B, 1, T, H}, 1, 2));
    const Var v = Var::leaf(normal({1, H}, 1, 3));
    return forward_backward({q, k, v}, normal({B, T, T, 1}, 1, 4), [=] { return linear(tanh(add(q, k)), v, Var()); });
  };
  return row;
}

/// One step of location-aware attention to sounds of T places each.
Row location_row(int64_t T) {
  const int64_t B = 16, H = 256, C = 10, reach = 16;
  Row row{.name = "location/T" + std::to_string(T), .unit = Unit::milliseconds, .peer = 4.0, .composed = 2.0};
  row.prepare = [=]() -> std::function<void()> {
    const Var q = Var::leaf(normal({B, 1, H}, 1, 1)), k = Var::leaf(normal({B, T, H}, 1, 2)),
              v = Var::leaf(normal({H}, 1, 3)), previous = Var::leaf(normal({B, T}, 1, 4)),
              filters = Var::leaf(normal({C, 2 * reach + 1}, 0.3, 5)), location = Var::leaf(normal({C, H}, 0.3, 6));
    const auto score = [=](const Tensor& weights) { return location_score(q, k, v, weights, filters, location); };
    const Tensor e = score(previous.value()).value(), seed = normal({B, 1, T}, 1, 7);
    double sum = 0;
    for (int64_t h = 0; h < H; ++h) {  // of the first key of the first sequence
      double argument = double{q.value().data()[h]} + k.value().data()[h];
      for (int64_t c = 0; c < C; ++c) {
        for (int64_t d = 0; d <= reach; ++d) {
          argument += double{location.value().data()[c * H + h]} *
                      filters.value().data()[c * (2 * reach + 1) + reach + d] * previous.value().data()[d];
        }
      }
      sum += double{v.value().data()[h]} * std::tanh(argument);
    }
    require_near("the location-aware score", e.data()[0], sum, 1e-4);
    auto run = forward_backward({q, k, v, previous, filters, location}, seed,
                                [=] { return location_score(q, k, v, previous, filters, location); });
    run();
    require_slope("the location-aware score", previous.value(), previous.gradient(), normal({B, T}, 1, 8), 0.02,
                  [&](const Tensor& moved) { return dot(score(moved).value(), seed); });
    return run;
  };
  row.prepare_composed = [=]() -> std::function<void()> {
    const Var q = Var::leaf(normal({B, 1, H}, 1, 1)), k = Var::leaf(normal({B, T, H}, 1, 2)),
              v = Var::leaf(normal({H}, 1, 3)), previous = Var::leaf(normal({B, T}, 1, 4)),
              filters = Var::leaf(normal({C, 1, 1, 2 * reach + 1}, 0.3, 5)),
              location = Var::leaf(normal({H, C}, 0.3, 6));
    const Var beyond = Tensor::zeros({B, 1, 1, reach});
    return forward_backward({q, k, v, previous, filters, location}, normal({B, 1, T}, 1, 7), [=] {
      const Var padded = concat(std::array{beyond, reshape(previous, {B, 1, 1, T}), beyond}, 3);
      const Var seen = transpose(reshape(conv2d(padded, filters), {B, C, T}), 1, 2);
      return additive_score(q, add(k, linear(seen, location, Var())), v);
    });
  };
  return row;
}

}  // namespace

std::vector<Row> product_rows() { return {linear_row(false), linear_row(true)}; }

std::vector<Row> recurrent_rows() {
  std::vector<Row> rows;
  for (const Cell cell : {Cell::lstm, Cell::gru}) {
    for (const int64_t B : {64, 8}) {
      for (const int64_t H : {256, 512}) {
        for (const bool backward : {false, true}) rows.push_back(recurrent_row(cell, H, B, backward));
      }
    }
  }
  return rows;
}

std::vector<Row> attention_rows() {
  std::vector<Row> rows;
  for (const int64_t n : {512, 1024, 2048, 4096}) {
    for (const bool causal : {false, true}) {
      for (const bool backward : {false, true}) rows.push_back(attention_row(n, causal, backward));
    }
  }
  for (const int64_t n : {2048, 4096, 8192}) rows.push_back(attention_memory_row(n));
  for (const int64_t T : {20, 35, 50}) rows.push_back(additive_row(T));
  for (const int64_t T : {200, 1000}) rows.push_back(location_row(T));
  return rows;
}

}  // namespace attend::bench
