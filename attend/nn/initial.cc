#include "attend/nn/initial.h"

#include <cmath>
#include <string>
#include <vector>

#include "attend/base/error.h"

namespace attend::nn {
namespace {

struct Fans {
  double in, out;
};

Fans fans_of(const Shape& shape) {
  if (shape.rank() < 2) return {static_cast<double>(shape.size()), static_cast<double>(shape.size())};
  // [out, in] or [out, in, kh, kw]: a kernel's field multiplies both.
  const double field = static_cast<double>(shape.size()) / static_cast<double>(shape[0] * shape[1]);
  return {field * static_cast<double>(shape[1]), field * static_cast<double>(shape[0])};
}

void fill_uniform(Tensor& weight, double limit, Random& random) {
  for (real& x : weight.values()) x = static_cast<real>((2 * random.uniform53() - 1) * limit);
}

void glorot(Tensor& weight, Random& random) {
  const Fans f = fans_of(weight.shape());
  fill_uniform(weight, std::sqrt(6 / (f.in + f.out)), random);
}

void uniform(Tensor& weight, Random& random) {
  fill_uniform(weight, 1 / std::sqrt(fans_of(weight.shape()).in), random);
}

void normal(Tensor& weight, Random& random) {
  for (real& x : weight.values()) x = static_cast<real>(random.normal() / std::sqrt(fans_of(weight.shape()).in));
}

void he(Tensor& weight, Random& random) {
  const double deviation = std::sqrt(2 / fans_of(weight.shape()).in);
  for (real& x : weight.values()) x = static_cast<real>(random.normal() * deviation);
}

/// Rows of a matrix [O, I] made orthonormal by Gram–Schmidt (twice, which is enough for full precision); with O > I, in
/// groups of I rows, so that a recurrent weight [G·H, H] gets one orthogonal matrix per gate.
void orthogonal(Tensor& weight, Random& random) {
  const size_t rows = static_cast<size_t>(weight.dim(0)), n = weight.size() / std::max<size_t>(1, rows);
  std::vector<std::vector<double>> group;
  for (size_t r = 0; r < rows; ++r) {
    if (group.size() == n) group.clear();
    std::vector<double> v(n);
    double length = 0;
    while (length < 1e-6) {
      for (double& x : v) x = random.normal();
      for (int pass = 0; pass < 2; ++pass) {
        for (const auto& u : group) {
          double dot = 0;
          for (size_t i = 0; i < n; ++i) dot += u[i] * v[i];
          for (size_t i = 0; i < n; ++i) v[i] -= dot * u[i];
        }
      }
      length = 0;
      for (const double x : v) length += x * x;
      length = std::sqrt(length);
    }
    for (size_t i = 0; i < n; ++i) weight.data()[r * n + i] = static_cast<real>(v[i] /= length);
    group.push_back(std::move(v));
  }
}

void zeros(Tensor& weight, Random&) { weight.fill(0); }
void ones(Tensor& weight, Random&) { weight.fill(1); }

thread_local int blank_scopes = 0;

constexpr InitialiserRow kInitialisers[] = {
    {"glorot", "U(±√(6/(in+out)))", "Glorot & Bengio 2010", glorot},
    {"orthogonal", "W·Wᵀ = I", "Saxe et al. 2014", orthogonal},
    {"uniform", "U(±1/√in)", "LeCun et al. 1998", uniform},
    {"normal", "N(0, 1/in)", "LeCun et al. 1998", normal},
    {"he", "N(0, 2/in), for relu", "He et al. 2015", he},
    {"zeros", "0", "", zeros},
    {"ones", "1", "", ones},
};

}  // namespace

Blank::Blank() { ++blank_scopes; }
Blank::~Blank() { --blank_scopes; }

std::span<const InitialiserRow> initialisers() { return kInitialisers; }

Tensor initial(std::string_view name, const Shape& shape, Random& random) {
  std::string known;
  for (const InitialiserRow& row : kInitialisers) {
    if (row.name == name) {
      if (blank_scopes > 0) return Tensor::zeros(shape);
      Tensor weight(shape);
      row.fill(weight, random);
      return weight;
    }
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  fail("initialiser: expected one of ", known, ", got \"", name, "\"");
}

}  // namespace attend::nn
