// Element-wise functions, rows, cross-entropy, Adam, convolution, and what a small op costs.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "attend/base/log_add.h"
#include "attend/train/optimiser.h"
#include "bench/inputs.h"
#include "bench/measure.h"
#include "bench/process.h"
#include "bench/row.h"

namespace attend::bench {
namespace {

constexpr int64_t kRows = 16 << 10, kWidth = 1024;
constexpr double kBytes = 2.0 * kRows * kWidth * sizeof(real);

struct Function {
  const char* name;
  Var (*run)(const Var&);
  double (*expected)(double);
};

Row function_row(const Function& f) {
  Row row{.name = std::string(f.name) + "/16Mi", .unit = Unit::gbs, .work = kBytes, .percent = 50, .peer = 3.0};
  row.prepare = [f]() -> std::function<void()> {
    const Var x = normal({kRows, kWidth});
    const Tensor y = f.run(x).value();
    for (size_t i = 0; i < y.size(); i += 997) require_near(f.name, y.data()[i], f.expected(x.value().data()[i]), 2e-6);
    return [=] { f.run(x); };
  };
  return row;
}

Row softmax_row() {
  Row row{.name = "softmax/16Mi", .unit = Unit::gbs, .work = kBytes, .percent = 70, .peer = 4.0};
  row.prepare = []() -> std::function<void()> {
    const Var x = normal({kRows, kWidth});
    const Tensor y = softmax(x).value();
    for (int64_t r = 0; r < kRows; r += 1021) {
      double sum = 0;
      for (int64_t i = 0; i < kWidth; ++i) sum += std::exp(double{x.value().data()[r * kWidth + i]});
      require_near("softmax", y.data()[r * kWidth] * 1e3, std::exp(double{x.value().data()[r * kWidth]}) / sum * 1e3,
                   1e-5);
    }
    return [=] { softmax(x); };
  };
  return row;
}

Row layer_norm_row() {
  Row row{.name = "layer_norm/16Mi", .unit = Unit::gbs, .work = kBytes, .percent = 70, .peer = 4.0};
  row.prepare = []() -> std::function<void()> {
    const Var x = normal({kRows, kWidth}), gain = normal({kWidth}, 1, 1), bias = normal({kWidth}, 1, 2);
    const Tensor y = layer_norm(x, gain, bias).value();
    for (int64_t r = 0; r < kRows; r += 1021) {
      const real* row_of_x = x.value().data() + r * kWidth;
      double mean = 0, variance = 0;
      for (int64_t i = 0; i < kWidth; ++i) mean += row_of_x[i] / double{kWidth};
      for (int64_t i = 0; i < kWidth; ++i) variance += std::pow(row_of_x[i] - mean, 2) / kWidth;
      require_near("layer norm", y.data()[r * kWidth + 7],
                   (row_of_x[7] - mean) / std::sqrt(variance + 1e-5) * gain.value().data()[7] + bias.value().data()[7],
                   1e-5);
    }
    return [=] { layer_norm(x, gain, bias); };
  };
  return row;
}

Row cross_entropy_row(int64_t V) {
  const int64_t N = 1280;
  Row row{.name = "cross_entropy/V" + std::to_string(V),
          .unit = Unit::gbs,
          .work = 2.0 * static_cast<double>(N * V) * sizeof(real),
          .percent = 60,
          .peer = 3.0};
  row.prepare = [=]() -> std::function<void()> {
    const Var logits = Var::leaf(normal({N, V}));
    Ids targets({N}, std::vector<int32_t>(static_cast<size_t>(N)));
    Random random(2);
    for (int32_t& t : targets.values) t = static_cast<int32_t>(random.below(static_cast<uint64_t>(V)));
    const CrossEntropyOptions options{.smoothing = real(0.1)};
    double loss = 0;
    for (int64_t r = 0; r < N; ++r) {
      const real* x = logits.value().data() + r * V;
      double sum = 0, all = 0;
      for (int64_t i = 0; i < V; ++i) sum += std::exp(double{x[i]}), all += x[i];
      loss += std::log(sum) - 0.9 * x[targets.values[static_cast<size_t>(r)]] - 0.1 * all / static_cast<double>(V);
    }
    require_near("cross-entropy", cross_entropy(logits, targets, options).item(), loss / N, 1e-5);
    auto run = forward_backward({logits}, Tensor::scalar(1), [=] { return cross_entropy(logits, targets, options); });
    run();
    const real* x = logits.value().data();
    double sum = 0;
    for (int64_t i = 0; i < V; ++i) sum += std::exp(double{x[i]});
    const double share = 0.1 / static_cast<double>(V) + (targets.values[0] == 3 ? 0.9 : 0);
    require_near("the gradient of cross-entropy", 1e6 * logits.gradient().data()[3],
                 1e6 * (std::exp(double{x[3]}) / sum - share) / N, 1e-3);
    return run;
  };
  return row;
}

/// −ln p of the first sequence of logits [T,B,V] by the recursion as it is written (Graves et al. 2006, eq. 6–8); the blank is 0.
double ctc_by_recursion(const Tensor& logits, const std::vector<int32_t>& target) {
  const int64_t T = logits.dim(0), B = logits.dim(1), V = logits.dim(2);
  const size_t S = 2 * target.size() + 1;
  const auto label = [&](size_t s) { return s % 2 == 0 ? 0 : target[s / 2]; };
  std::vector<double> before(S, kLogZero), now(S);
  for (int64_t t = 0; t < T; ++t) {
    const real* x = logits.data() + t * B * V;
    double sum = 0;
    for (int64_t v = 0; v < V; ++v) sum += std::exp(double{x[v]});
    for (size_t s = 0; s < S; ++s) {
      double a = t == 0 ? (s < 2 ? 0 : kLogZero) : before[s];
      if (t > 0 && s > 0) a = log_add(a, before[s - 1]);
      if (t > 0 && s > 1 && s % 2 == 1 && label(s) != label(s - 2)) a = log_add(a, before[s - 2]);
      now[s] = a + double{x[label(s)]} - std::log(sum);
    }
    before.swap(now);
  }
  return -log_add(before[S - 1], before[S - 2]);
}

Row ctc_row(int64_t V) {
  const int64_t T = 400, B = 16, U = 60;
  Row row{.name = "ctc/T400 B16 V" + std::to_string(V), .unit = Unit::milliseconds, .peer = 2.0};
  row.prepare = [=]() -> std::function<void()> {
    const Var logits = Var::leaf(normal({T, B, V}));
    const std::vector<int32_t> lengths(B, int32_t{T});
    std::vector<std::vector<int32_t>> targets(B, std::vector<int32_t>(U));
    Random random(2);
    for (auto& target : targets) {
      for (int32_t& label : target) label = 1 + static_cast<int32_t>(random.below(static_cast<uint64_t>(V) - 1));
    }
    const Tensor first = slice(logits.value(), 1, 0, 1).value();
    require_near("ctc", ctc_loss(first, {lengths[0]}, {targets[0]}).item(), ctc_by_recursion(first, targets[0]), 1e-5);
    auto run = forward_backward({logits}, Tensor::scalar(1), [=] { return ctc_loss(logits, lengths, targets); });
    run();
    require_slope("ctc", logits.value(), logits.gradient(), normal({T, B, V}, 1, 5), 0.02,
                  [&](const Tensor& moved) { return ctc_loss(moved, lengths, targets).item(); });
    return run;
  };
  return row;
}

Row adam_row() {
  const int64_t tensors = 20, side = 1000;
  Row row{.name = "adam/20M", .unit = Unit::gbs, .work = 28.0 * tensors * side * side, .percent = 100, .peer = 1.0};
  row.prepare = [=]() -> std::function<void()> {
    std::vector<nn::NamedParam> parameters;
    for (int64_t i = 0; i < tensors; ++i) {
      const Var p = Var::leaf(normal({side, side}, 1, static_cast<uint64_t>(i)));
      p.slot().add(normal({side, side}, 1, static_cast<uint64_t>(100 + i)));
      parameters.push_back({"p" + std::to_string(i), p});
    }
    const double before = parameters[3].var.value().data()[77], g = parameters[3].var.gradient().data()[77];
    std::shared_ptr<train::Optimiser> adam = train::make_optimiser("adam", {}, parameters);
    adam->step(1e-3);
    // The first step of Adam is one learning rate against the sign of the gradient.
    require_near("Adam", parameters[3].var.value().data()[77], before - 1e-3 * g / (std::abs(g) + 1e-8), 1e-6);
    return [adam] { adam->step(1e-3); };
  };
  return row;
}

struct Convolution {
  std::string name;
  int64_t size, in, out, batch;
  bool first = false;  // of a network: the gradient of the image is not needed
};

Row conv2d_row(const Convolution& c) {
  const int64_t size = c.size, C = c.in, O = c.out, B = c.batch;
  Row row{.name = "conv2d/" + c.name,
          .work = (c.first ? 4.0 : 6.0) * static_cast<double>(B * O * C * 9 * size * size),
          .percent = 60,
          .peer = 1.0};
  row.prepare = [=]() -> std::function<void()> {
    const Tensor images = normal({B, C, size, size}, 1, 1);
    const Var x = c.first ? Var(images) : Var::leaf(images), w = Var::leaf(normal({O, C, 3, 3}, 0.06, 2));
    const Var b = Var::leaf(normal({O}, 1, 3));
    const Tensor y = conv2d(x, w, b, {.padding = 1}).value(), seed = normal({B, O, size, size}, 1, 4);
    const int64_t o = 9, i = 5, j = 0;
    double sum = b.value().data()[o];
    for (int64_t channel = 0; channel < C; ++channel) {
      for (int64_t u = 0; u < 3; ++u) {
        for (int64_t v = 1; v < 3; ++v) {
          sum += double{w.value().data()[((o * C + channel) * 3 + u) * 3 + v]} *
                 x.value().data()[(channel * size + i + u - 1) * size + j + v - 1];
        }
      }
    }
    require_near("conv2d", y.data()[(o * size + i) * size + j], sum, 1e-4);
    auto run = forward_backward(c.first ? std::vector{w, b} : std::vector{x, w, b}, seed,
                                [=] { return conv2d(x, w, b, {.padding = 1}); });
    run();
    require_slope("conv2d", w.value(), w.gradient(), normal({O, C, 3, 3}, 0.1, 5), 1.0, [&](const Tensor& moved) {
      return dot(conv2d(x.value(), moved, b.value(), {.padding = 1}).value(), seed);
    });
    return run;
  };
  return row;
}

Row small_add_row(bool recording) {
  const int count = 1000;
  Row row{.name = recording ? "add/4x4/recording" : "add/4x4",
          .unit = Unit::nanoseconds,
          .work = count,
          .most = recording ? 500.0 : 150.0};
  row.prepare = [=]() -> std::function<void()> {
    const Var a = recording ? Var::leaf(normal({4, 4}, 1, 1)) : Var(normal({4, 4}, 1, 1)), b = normal({4, 4}, 1, 2);
    require_near("add", add(a, b).value().data()[5], double{a.value().data()[5]} + b.value().data()[5], 1e-6);
    if (!recording) {
      return [=] {
        for (int i = 0; i < count; ++i) add(a, b);
      };
    }
    return [=] {
      Tape tape;
      for (int i = 0; i < count; ++i) add(a, b);
    };
  };
  return row;
}

/// Seconds from starting this program with --version to its end.
double start_up() {
  const std::string path = this_program();
  const double start = now();
  const pid_t child = fork();
  require(child >= 0, "bench: cannot start a process");
  if (child == 0) {
    if (!freopen("/dev/null", "w", stdout)) _exit(1);
    execl(path.c_str(), "attend", "--version", nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "bench: `attend --version` failed");
  return now() - start;
}

}  // namespace

std::vector<Row> element_rows() {
  const Function functions[] = {
      {"tanh", attend::tanh, [](double x) { return std::tanh(x); }},
      {"sigmoid", attend::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"exp", attend::exp, [](double x) { return std::exp(x); }},
      {"gelu", attend::gelu, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }}};
  std::vector<Row> rows{softmax_row(), layer_norm_row()};
  for (const Function& f : functions) rows.push_back(function_row(f));
  return rows;
}

std::vector<Row> training_rows() {
  return {cross_entropy_row(8000), cross_entropy_row(32000), ctc_row(32), ctc_row(1000), adam_row()};
}

std::vector<Row> convolution_rows() {
  std::vector<Row> rows;
  for (const Convolution& c :
       {Convolution{"28x28/B32", 28, 32, 64, 32}, Convolution{"28x28/B64", 28, 32, 64, 64},
        Convolution{"56x56/B32", 56, 64, 64, 32}, Convolution{"56x56/B64", 56, 64, 64, 64},
        // the captioner's stages
        Convolution{"stage1 112x112 3-32", 112, 3, 32, 32, true}, Convolution{"stage2 56x56 32-64", 56, 32, 64, 32},
        Convolution{"stage3 28x28 64-128", 28, 64, 128, 32}, Convolution{"stage4 14x14 128-256", 14, 128, 256, 32}}) {
    rows.push_back(conv2d_row(c));
  }
  return rows;
}

std::vector<Row> overhead_rows() {
  Row version{.name = "attend --version", .unit = Unit::milliseconds, .most = 30.0};
  version.value = [] {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 10; ++i) best = std::min(best, start_up());
    return 1e3 * best;
  };
  return {small_add_row(true), small_add_row(false), version};
}

}  // namespace attend::bench
