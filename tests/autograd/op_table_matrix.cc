#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

Array turned(const Array& x, bool transposed) {
  if (!transposed) return x;
  Array y({x.dim(0), x.dim(2), x.dim(1)});
  for (int64_t b = 0; b < x.dim(0); ++b) {
    for (int64_t i = 0; i < x.dim(1); ++i) {
      for (int64_t j = 0; j < x.dim(2); ++j) y(b, j, i) = x(b, i, j);
    }
  }
  return y;
}

Array product(const Array& left, const Array& right, bool ta, bool tb) {
  const Array a = turned(left, ta), b = turned(right, tb);
  Array c({a.dim(0), a.dim(1), b.dim(2)});
  for (int64_t n = 0; n < a.dim(0); ++n) {
    for (int64_t i = 0; i < a.dim(1); ++i) {
      for (int64_t j = 0; j < b.dim(2); ++j) {
        for (int64_t k = 0; k < a.dim(2); ++k) c(n, i, j) += a(n, i, k) * b(n, k, j);
      }
    }
  }
  return c;
}

Array with_shape(Array x, const Shape& shape) {
  x.shape = shape;
  return x;
}

double activated(Activation f, double x) {
  switch (f) {
    case Activation::relu: return x > 0 ? x : 0;
    case Activation::tanh: return std::tanh(x);
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
    case Activation::gelu: return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    default: return x;
  }
}

}  // namespace

void add_matrix_rows(std::vector<OpRow>& table) {
  for (const auto& [size, m, k, n] : {std::tuple{"few", 3, 9, 21}, std::tuple{"many", 23, 35, 37}}) {
    for (int turn = 0; turn < 4; ++turn) {
      const bool ta = turn & 1, tb = turn & 2;
      const Shape a = ta ? Shape{k, m} : Shape{m, k}, b = tb ? Shape{n, k} : Shape{k, n};
      const std::string kind = std::string(" ") + size + (ta ? " Aᵀ" : " A") + (tb ? "Bᵀ" : "B");
      const Shape out{m, n};
      table.push_back(
          {"matmul" + kind + std::to_string(turn),
           {a, b},
           [=](const Vars& x) { return Vars{matmul(x[0], x[1], ta, tb)}; },
           [=](const Arrays& x) {
             const Array c = product(with_shape(x[0], {1, a[0], a[1]}), with_shape(x[1], {1, b[0], b[1]}), ta, tb);
             return Arrays{with_shape(c, out)};
           },
           {{[] {
               matmul(Tensor::zeros({2, 3}), Tensor::zeros({4, 5}));
             },
             "matmul: expected [m,k] and [k,n], got [2, 3] and [4, 5]"},
            {[] {
               matmul(Tensor::zeros({2, 3, 1}), Tensor::zeros({4, 5}));
             },
             "rank 2"}}});
      table.push_back({"batched_matmul" + kind + std::to_string(turn),
                       {{3, a[0], a[1]}, {3, b[0], b[1]}},
                       [=](const Vars& x) { return Vars{batched_matmul(x[0], x[1], ta, tb)}; },
                       [=](const Arrays& x) { return Arrays{product(x[0], x[1], ta, tb)}; },
                       {{[] {
                           batched_matmul(Tensor::zeros({2, 3, 4}), Tensor::zeros({3, 4, 5}));
                         },
                         "batched_matmul: expected [B,m,k] and [B,k,n]"}}});
    }
  }

  const std::pair<const char*, Activation> activations[] = {{"plain", Activation::none},
                                                            {"relu", Activation::relu},
                                                            {"tanh", Activation::tanh},
                                                            {"sigmoid", Activation::sigmoid},
                                                            {"gelu", Activation::gelu}};
  for (const auto& [kind, f] : activations) {
    for (const int64_t rows : {2, 19}) {
      const int64_t I = 13, O = 18;
      table.push_back({std::string("linear ") + kind + " " + std::to_string(rows),
                       {{rows, 2, I}, {O, I}, {O}},
                       [f = f](const Vars& x) { return Vars{linear(x[0], x[1], x[2], f)}; },
                       [=, f = f](const Arrays& x) {
                         Array y({rows, 2, O});
                         for (int64_t r = 0; r < rows * 2; ++r) {
                           for (int64_t o = 0; o < O; ++o) {
                             double sum = x[2](o);
                             for (int64_t i = 0; i < I; ++i) sum += x[0].v[static_cast<size_t>(r * I + i)] * x[1](o, i);
                             y.v[static_cast<size_t>(r * O + o)] = activated(f, sum);
                           }
                         }
                         return Arrays{y};
                       },
                       {{[] {
                           linear(Tensor::zeros({2, 3}), Tensor::zeros({5, 4}), Var());
                         },
                         "linear: expected x [..,I] and weight [O,I], got [2, 3] and [5, 4]"},
                        {[] {
                           linear(Tensor::zeros({2, 4}), Tensor::zeros({5, 4}), Tensor::zeros({4}));
                         },
                         "bias [5]"}},
                       {},
                       f == Activation::relu ? 1e-6 : 1e-3});
    }
  }
  for (const auto& [kind, f] : {std::pair{"plain", Activation::none}, {"relu", Activation::relu}}) {
    const int64_t N = 5, I = 13, J = 7, O = 18;
    table.push_back({std::string("linear_pair ") + kind,
                     {{N, I}, {O, I}, {N, J}, {O, J}, {O}},
                     [f = f](const Vars& x) { return Vars{linear_pair(x[0], x[1], x[2], x[3], x[4], f)}; },
                     [=, f = f](const Arrays& x) {
                       Array y({N, O});
                       for (int64_t n = 0; n < N; ++n) {
                         for (int64_t o = 0; o < O; ++o) {
                           double sum = x[4](o);
                           for (int64_t i = 0; i < I; ++i) sum += x[0](n, i) * x[1](o, i);
                           for (int64_t j = 0; j < J; ++j) sum += x[2](n, j) * x[3](o, j);
                           y(n, o) = activated(f, sum);
                         }
                       }
                       return Arrays{y};
                     },
                     {{[] {
                         linear_pair(Tensor::zeros({2, 3}), Tensor::zeros({5, 3}), Tensor::zeros({3, 4}),
                                     Tensor::zeros({5, 4}), Var());
                       },
                       "linear_pair: expected x [N,I], weight [O,I], y [N,J] and weight [O,J], got [2, 3]"},
                      {[] {
                         linear_pair(Tensor::zeros({2, 3}), Tensor::zeros({5, 3}), Tensor::zeros({2, 4}),
                                     Tensor::zeros({5, 4}), Tensor::zeros({4}));
                       },
                       "bias [5]"}},
                     {},
                     f == Activation::relu ? 1e-6 : 1e-3});
  }
}

}  // namespace attend::test
