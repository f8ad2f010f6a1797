#include <algorithm>

#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

/// a ∘ b with broadcasting, element by element.
Array broadcast(const Array& a, const Array& b, double (*f)(double, double)) {
  const int rank = std::max(a.shape.rank(), b.shape.rank());
  Shape shape;
  for (int i = rank; i >= 1; --i) {
    const int64_t x = i <= a.shape.rank() ? a.dim(-i) : 1, y = i <= b.shape.rank() ? b.dim(-i) : 1;
    shape.append(std::max(x, y));
  }
  Array out(shape);
  for (size_t at = 0; at < out.size(); ++at) {
    size_t rest = at, of_a = 0, of_b = 0, stride_a = 1, stride_b = 1;
    for (int i = 1; i <= rank; ++i) {
      const size_t extent = static_cast<size_t>(shape[-i]), index = rest % extent;
      rest /= extent;
      if (i <= a.shape.rank() && a.dim(-i) > 1) of_a += index * stride_a;
      if (i <= b.shape.rank() && b.dim(-i) > 1) of_b += index * stride_b;
      if (i <= a.shape.rank()) stride_a *= static_cast<size_t>(a.dim(-i));
      if (i <= b.shape.rank()) stride_b *= static_cast<size_t>(b.dim(-i));
    }
    out.v[at] = f(a.v[of_a], b.v[of_b]);
  }
  return out;
}

struct BinaryOp {
  const char* name;
  Var (*run)(const Var&, const Var&);
  double (*f)(double, double);
};

struct UnaryOp {
  const char* name;
  Var (*run)(const Var&);
  double (*f)(double);
  double (*prepare)(double);
};

Array mapped(const Array& x, double (*f)(double)) {
  Array y(x.shape);
  for (size_t i = 0; i < x.size(); ++i) y.v[i] = f(x.v[i]);
  return y;
}

/// Number i of a dropout pattern by its definition (attend/kernels/random-inl.h).
bool kept(uint64_t key, size_t i, double keep) {
  const uint32_t counter = static_cast<uint32_t>(i / 64 * 8 + i % 8);
  const uint32_t word = philox({counter, 0, 0, 0x64726F70}, key)[i % 32 / 8];
  const uint32_t number = i % 64 < 32 ? word & 0xFFFF : word >> 16;
  return number < static_cast<uint32_t>(static_cast<double>(static_cast<real>(keep)) * 65536.0);
}

}  // namespace

void add_elementwise_rows(std::vector<OpRow>& table) {
  const BinaryOp binary[] = {{"add", attend::add, [](double a, double b) { return a + b; }},
                             {"subtract", attend::subtract, [](double a, double b) { return a - b; }},
                             {"multiply", attend::multiply, [](double a, double b) { return a * b; }},
                             {"divide", attend::divide, [](double a, double b) { return a / b; }}};
  const std::pair<const char*, std::vector<Shape>> shapes[] = {
      {"same", {{3, 17}, {3, 17}}},       {"bias", {{2, 5, 9}, {9}}}, {"column", {{2, 5, 9}, {5, 1}}},
      {"middle", {{2, 1, 9}, {2, 5, 1}}}, {"scalar", {{4, 3}, {}}},   {"left", {{6}, {2, 3, 6}}},
      {"one", {{3, 1}, {3, 4}}},
  };
  for (const BinaryOp& op : binary) {
    for (const auto& [kind, extents] : shapes) {
      OpRow row{std::string(op.name) + " " + kind, extents, [op](const Vars& x) { return Vars{op.run(x[0], x[1])}; },
                [op](const Arrays& x) { return Arrays{broadcast(x[0], x[1], op.f)}; }};
      row.refusals = {{[op] {
                         op.run(Tensor::zeros({2, 3}), Tensor::zeros({2, 4}));
                       },
                       std::string(op.name) + ": shapes must be equal or 1"},
                      {[op] { op.run(Tensor(), Tensor::zeros({2})); }, "undefined"}};
      // Denominators away from 0.
      if (op.name == std::string("divide")) row.prepare = [](double x) { return x < 0 ? x - 1 : x + 1; };
      table.push_back(row);
    }
  }

  const auto plain = [](double x) { return x; };
  const UnaryOp unary[] = {
      {"tanh", attend::tanh, [](double x) { return std::tanh(x); }, plain},
      {"sigmoid", attend::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, [](double x) { return 3 * x; }},
      {"relu", attend::relu, [](double x) { return x > 0 ? x : 0; },
       [](double x) { return std::abs(x) < 0.1 ? 0.5 : x; }},
      {"relu6", attend::relu6, [](double x) { return std::min(std::max(x, 0.0), 6.0); },
       [](double x) { return std::abs(x) < 0.1 ? 0.5 : 5 * x; }},
      {"gelu", attend::gelu, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }, plain},
      {"exp", attend::exp, [](double x) { return std::exp(x); }, plain},
      {"log", attend::log, [](double x) { return std::log(x); }, [](double x) { return std::exp(x); }},
  };
  for (const UnaryOp& op : unary) {
    table.push_back({op.name,
                     {{3, 37}},
                     [op](const Vars& x) { return Vars{op.run(x[0])}; },
                     [op](const Arrays& x) { return Arrays{mapped(x[0], op.f)}; },
                     {{[op] { op.run(Var()); }, std::string(op.name) + ": expected a tensor"}},
                     op.prepare});
  }

  table.push_back({"affine",
                   {{5, 7}},
                   [](const Vars& x) { return Vars{affine(x[0], real(-1.5), real(0.25))}; },
                   [](const Arrays& x) { return Arrays{mapped(x[0], [](double a) { return -1.5 * a + 0.25; })}; },
                   {{[] { affine(Var(), 1); }, "affine: expected a tensor"}}});

  table.push_back({"dropout",
                   {{3, 67}},
                   [](const Vars& x) {
                     Random random(3);
                     return Vars{dropout(x[0], real(0.3), random)};
                   },
                   [](const Arrays& x) {
                     const uint64_t key = Random(3).next_key();
                     Array y(x[0].shape);
                     for (size_t i = 0; i < y.size(); ++i) y.v[i] = kept(key, i, 1 - real(0.3)) ? x[0].v[i] / 0.7 : 0;
                     return Arrays{y};
                   },
                   {{[] {
                       Random random;
                       dropout(Tensor::zeros({2}), 1, random);
                     },
                     "dropout: the rate must be in [0, 1), got 1"}}});
}

}  // namespace attend::test
