#include <algorithm>

#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

/// Softmax of each row of x [R, T, N] where mask [R or 1, 1 or T, N] is 1; log of it if asked.
Arrays softmaxes(const Array& x, const Array& mask, bool logarithm) {
  Array y(x.shape);
  for (int64_t r = 0; r < x.dim(0); ++r) {
    for (int64_t t = 0; t < x.dim(1); ++t) {
      const auto seen = [&](int64_t n) { return mask(mask.dim(0) > 1 ? r : 0, mask.dim(1) > 1 ? t : 0, n) != 0; };
      double sum = 0;
      for (int64_t n = 0; n < x.dim(2); ++n) sum += seen(n) ? std::exp(x(r, t, n)) : 0;
      for (int64_t n = 0; n < x.dim(2); ++n) {
        const double p = seen(n) && sum > 0 ? std::exp(x(r, t, n)) / sum : 0;
        if (logarithm) {
          y(r, t, n) = sum == 0 ? 0 : seen(n) ? std::log(p) : -1e30;
        } else {
          y(r, t, n) = p;
        }
      }
    }
  }
  return {y};
}

/// max(x − τ, 0) where mask is 1, τ found by bisection so that each row sums to one.
Arrays sparsemaxes(const Array& x, const Array& mask) {
  Array y(x.shape);
  for (int64_t r = 0; r < x.dim(0); ++r) {
    for (int64_t t = 0; t < x.dim(1); ++t) {
      const auto seen = [&](int64_t n) { return mask(mask.dim(0) > 1 ? r : 0, mask.dim(1) > 1 ? t : 0, n) != 0; };
      const auto excess = [&](double tau) {
        double sum = 0;
        for (int64_t n = 0; n < x.dim(2); ++n) sum += seen(n) ? std::max(x(r, t, n) - tau, 0.0) : 0;
        return sum - 1;
      };
      double low = -100, high = 100;
      if (excess(low) < 0) continue;  // masked whole
      for (int halving = 0; halving < 100; ++halving) (excess((low + high) / 2) > 0 ? low : high) = (low + high) / 2;
      for (int64_t n = 0; n < x.dim(2); ++n) y(r, t, n) = seen(n) ? std::max(x(r, t, n) - low, 0.0) : 0;
    }
  }
  return {y};
}

/// Ones with a few zeros; with `whole`, row 0 is masked whole.
Array mask_of(const Shape& shape, bool some, bool whole) {
  Array mask(shape);
  Random random(5);
  for (double& m : mask.v) m = some && random.uniform() < 0.4f ? 0 : 1;
  if (whole) std::fill_n(mask.v.begin(), shape[2], 0.0);
  return mask;
}

Array entropy(const Array& logits, const std::vector<int32_t>& targets, double smoothing, int32_t ignored) {
  const int64_t V = logits.dim(1);
  Array loss((Shape()));
  double sum = 0, counted = 0;
  for (int64_t r = 0; r < logits.dim(0); ++r) {
    const int32_t target = targets[static_cast<size_t>(r)];
    if (target == ignored) continue;
    double total = 0;
    for (int64_t v = 0; v < V; ++v) total += std::exp(logits(r, v));
    for (int64_t v = 0; v < V; ++v) {
      const double share = (v == target ? 1 - smoothing : 0) + smoothing / static_cast<double>(V);
      sum -= share * (logits(r, v) - std::log(total));
    }
    ++counted;
  }
  loss.v[0] = counted > 0 ? sum / counted : 0;
  return loss;
}

/// ½(H(a) + H(b)) + weight·½·mean(KL(p‖q) + KL(q‖p)) over the rows that count.
Array paired(const Array& a, const Array& b, const std::vector<int32_t>& targets, double weight, double smoothing) {
  double apart = 0, counted = 0;
  for (int64_t r = 0; r < a.dim(0); ++r) {
    if (targets[static_cast<size_t>(r)] == -1) continue;
    double as = 0, bs = 0;
    for (int64_t v = 0; v < a.dim(1); ++v) as += std::exp(a(r, v)), bs += std::exp(b(r, v));
    for (int64_t v = 0; v < a.dim(1); ++v) {
      const double p = std::exp(a(r, v)) / as, q = std::exp(b(r, v)) / bs;
      apart += p * std::log(p / q) + q * std::log(q / p);
    }
    ++counted;
  }
  Array loss = entropy(a, targets, smoothing, -1);
  loss.v[0] =
      (loss.v[0] + entropy(b, targets, smoothing, -1).v[0]) / 2 + (counted > 0 ? weight * apart / counted / 2 : 0);
  return loss;
}

/// Folds axis `axis` of x [A,B,C].
template <class Fold>
Array reduced(const Array& x, int axis, Fold fold) {
  Array y(x.shape.without(axis));
  const size_t outer = x.shape.outer(axis), n = static_cast<size_t>(x.dim(axis)), inner = x.shape.inner(axis);
  for (size_t o = 0; o < outer; ++o) {
    for (size_t i = 0; i < inner; ++i) {
      std::vector<double> values;
      for (size_t k = 0; k < n; ++k) values.push_back(x.v[(o * n + k) * inner + i]);
      y.v[o * inner + i] = fold(values);
    }
  }
  return y;
}

double total(const std::vector<double>& x) {
  double sum = 0;
  for (const double a : x) sum += a;
  return sum;
}

void add_reductions(std::vector<OpRow>& table) {
  for (int axis = 0; axis < 3; ++axis) {
    const std::string which = " " + std::to_string(axis);
    const Shape shape{3, 19, 5};
    table.push_back({"sum" + which,
                     {shape},
                     [axis](const Vars& x) { return Vars{sum(x[0], axis)}; },
                     [axis](const Arrays& x) { return Arrays{reduced(x[0], axis, total)}; },
                     {{[] {
                         sum(Tensor::zeros({2, 3}), 2);
                       },
                       "sum: axis must be within -2 … 1 for shape [2, 3], got 2"}}});
    table.push_back({"mean" + which,
                     {shape},
                     [axis](const Vars& x) { return Vars{mean(x[0], axis - 3)}; },
                     [axis](const Arrays& x) {
                       return Arrays{reduced(x[0], axis, [](const std::vector<double>& v) {
                         return total(v) / static_cast<double>(v.size());
                       })};
                     },
                     {{[] {
                         mean(Tensor::zeros({2, 0}), 1);
                       },
                       "mean: expected an axis of at least one element"}}});
    table.push_back({"max" + which,
                     {shape},
                     [axis](const Vars& x) { return Vars{max(x[0], axis)}; },
                     [axis](const Arrays& x) {
                       return Arrays{reduced(x[0], axis, [](const std::vector<double>& v) {
                         return *std::max_element(v.begin(), v.end());
                       })};
                     },
                     {{[] { max(Tensor::zeros({0}), 0); }, "max: expected an axis of at least one element"}},
                     {},
                     1e-6});
  }
  table.push_back({"sum all",
                   {{3, 19, 5}},
                   [](const Vars& x) { return Vars{sum(x[0])}; },
                   [](const Arrays& x) {
                     Array y((Shape()));
                     y.v[0] = total(x[0].v);
                     return Arrays{y};
                   }});
  table.push_back({"mean all",
                   {{3, 19, 5}},
                   [](const Vars& x) { return Vars{mean(x[0])}; },
                   [](const Arrays& x) {
                     Array y((Shape()));
                     y.v[0] = total(x[0].v) / static_cast<double>(x[0].size());
                     return Arrays{y};
                   }});
}

}  // namespace

void add_row_rows(std::vector<OpRow>& table) {
  const Shape shape{2, 3, 21};
  const std::pair<const char*, Array> masks[] = {{"plain", mask_of({1, 1, 21}, false, false)},
                                                 {"keys", mask_of({2, 1, 21}, true, false)},
                                                 {"each", mask_of({2, 3, 21}, true, true)},
                                                 {"matrix", mask_of({1, 3, 21}, true, true)}};
  for (const auto& [kind, mask] : masks) {
    const Tensor given = std::string(kind) == "plain" ? Tensor() : to_tensor(mask);
    table.push_back({std::string("softmax ") + kind,
                     {shape},
                     [given](const Vars& x) { return Vars{softmax(x[0], given)}; },
                     [mask = mask](const Arrays& x) { return softmaxes(x[0], mask, false); },
                     {{[] {
                         softmax(Tensor::zeros({2, 3}), Tensor::zeros({2, 4}));
                       },
                       "softmax: the mask must have x's last extent"},
                      {[] {
                         softmax(Tensor::zeros({2, 3}), Tensor::zeros({5, 3}));
                       },
                       "softmax"},
                      {[] { softmax(Tensor::scalar(1)); }, "at least one axis"}}});
    // Masked logarithms are a constant -1e30: they are multiplied by the mask, as every user of them does.
    table.push_back(
        {std::string("log_softmax ") + kind,
         {shape},
         [given, keep = to_tensor(mask)](const Vars& x) { return Vars{multiply(log_softmax(x[0], given), keep)}; },
         [mask = mask](const Arrays& x) {
           Arrays y = softmaxes(x[0], mask, true);
           for (double& v : y[0].v) v = v == -1e30 ? 0 : v;
           return y;
         },
         {{[] {
             log_softmax(Tensor::zeros({2, 3}), Tensor::zeros({2, 4}));
           },
           "log_softmax: the mask"}}});
  }

  // Twice: of numbers far apart few are above τ, of close ones nearly all.
  for (const double spread : {1.0, 0.05}) {
    for (const auto& [kind, mask] : masks) {
      const Tensor given = std::string(kind) == "plain" ? Tensor() : to_tensor(mask);
      table.push_back({std::string("sparsemax ") + kind + (spread < 1 ? " close" : ""),
                       {shape},
                       [given](const Vars& x) { return Vars{sparsemax(x[0], given)}; },
                       [mask = mask](const Arrays& x) { return sparsemaxes(x[0], mask); },
                       {{[] {
                           sparsemax(Tensor::zeros({2, 3}), Tensor::zeros({2, 4}));
                         },
                         "sparsemax: the mask must have x's last extent"},
                        {[] { sparsemax(Tensor::scalar(1)); }, "at least one axis"}},
                       [spread](double x) { return spread * x; },
                       1e-6});
    }
  }

  const std::vector<int32_t> targets{3, -1, 0, 16, 7, -1};
  for (const double smoothing : {0.0, 0.1}) {
    table.push_back(
        {"cross_entropy " + std::to_string(static_cast<int>(100 * smoothing)),
         {{6, 17}},
         [=](const Vars& x) { return Vars{cross_entropy(x[0], Ids({6}, targets), {.smoothing = real(smoothing)})}; },
         [=](const Arrays& x) { return Arrays{entropy(x[0], targets, smoothing, -1)}; },
         {{[] {
             cross_entropy(Tensor::zeros({2, 3}), Ids({3}, {0, 1, 2}));
           },
           "cross_entropy: logits [2, 3] want 2 targets, got [3]"},
          {[] {
             cross_entropy(Tensor::zeros({2, 3}), Ids({2}, {0, 3}));
           },
           "must be in [0, 3)"},
          {[] {
             cross_entropy(Tensor::zeros({1, 3}), Ids({1}, {0}), {.smoothing = 1});
           },
           "smoothing"}}});
  }

  for (const double weight : {0.0, 3.0}) {
    const auto row = [](int64_t wide) { return Tensor::zeros({1, wide}); };
    table.push_back({"paired_cross_entropy " + std::to_string(static_cast<int>(weight)),
                     {{6, 17}, {6, 17}},
                     [=](const Vars& x) {
                       return Vars{
                           paired_cross_entropy(x[0], x[1], Ids({6}, targets), real(weight), {.smoothing = real(0.1)})};
                     },
                     [=](const Arrays& x) { return Arrays{paired(x[0], x[1], targets, weight, 0.1)}; },
                     {{[=] { paired_cross_entropy(row(3), row(4), Ids({1}, {0}), 1); },
                       "paired_cross_entropy: expected two tensors of logits of one shape, got [1, 3] and [1, 4]"},
                      {[=] {
                         paired_cross_entropy(row(3), row(3), Ids({2}, {0, 1}), 1);
                       },
                       "want 1 targets, got [2]"},
                      {[=] { paired_cross_entropy(row(3), row(3), Ids({1}, {3}), 1); }, "must be in [0, 3)"},
                      {[=] { paired_cross_entropy(row(3), row(3), Ids({1}, {0}), -1); },
                       "expected a weight of 0 or more, got -1"}}});
  }

  table.push_back({"layer_norm",
                   {{2, 3, 29}, {29}, {29}},
                   [](const Vars& x) { return Vars{layer_norm(x[0], x[1], x[2])}; },
                   [](const Arrays& x) {
                     Array y(x[0].shape);
                     for (size_t r = 0; r < 6; ++r) {
                       double mean = 0, variance = 0;
                       for (size_t i = 0; i < 29; ++i) mean += x[0].v[r * 29 + i] / 29;
                       for (size_t i = 0; i < 29; ++i) variance += std::pow(x[0].v[r * 29 + i] - mean, 2) / 29;
                       for (size_t i = 0; i < 29; ++i) {
                         y.v[r * 29 + i] =
                             (x[0].v[r * 29 + i] - mean) / std::sqrt(variance + double(real(1e-5))) * x[1].v[i] +
                             x[2].v[i];
                       }
                     }
                     return Arrays{y};
                   },
                   {{[] {
                       layer_norm(Tensor::zeros({2, 3}), Tensor::zeros({3}), Tensor::zeros({2}));
                     },
                     "layer_norm: expected gain and bias [3] for x [2, 3], got [3] and [2]"}}});
  add_reductions(table);
}

}  // namespace attend::test
