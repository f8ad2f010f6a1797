#include "attend/nn/layers.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/nn/initial.h"

namespace attend::nn {

Linear::Linear(int64_t in, int64_t out, Random& random, bool bias, Activation activation,
               const std::string& initialiser)
    : weight_(Var::leaf(initial(initialiser, {out, in}, random))),
      bias_(bias ? Var::leaf(Tensor::zeros({out})) : Var()),
      activation_(activation) {}

void Linear::params(const VisitParams& visit) {
  visit("weight", weight_);
  if (bias_.defined()) visit("bias", bias_);
}

LinearPair::LinearPair(int64_t first, int64_t second, int64_t out, Random& random, Activation activation)
    : activation_(activation) {
  // As one weight over both side by side, so that both count as its inputs.
  const Tensor both = initial("glorot", {out, first + second}, random);
  Tensor one({out, first}), other({out, second});
  for (int64_t o = 0; o < out; ++o) {
    const real* row = both.data() + o * (first + second);
    std::copy_n(row, first, one.data() + o * first);
    std::copy_n(row + first, second, other.data() + o * second);
  }
  first_ = Var::leaf(one);
  second_ = Var::leaf(other);
  bias_ = Var::leaf(Tensor::zeros({out}));
}

Var LinearPair::operator()(const Var& x, const Var& y) const {
  return y.defined() ? linear_pair(x, first_, y, second_, bias_, activation_) : linear(x, first_, bias_, activation_);
}

void LinearPair::params(const VisitParams& visit) {
  visit("first_weight", first_);
  visit("second_weight", second_);
  visit("bias", bias_);
}

Mlp::Mlp(const std::vector<int64_t>& sizes, Activation activation, Random& random) {
  require(sizes.size() >= 2, "Mlp: expected at least the sizes of input and output, got ", sizes.size());
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    const bool last = i + 2 == sizes.size();
    layers_.emplace_back(sizes[i], sizes[i + 1], random, true, last ? Activation::none : activation);
  }
}

Var Mlp::operator()(const Var& x) const {
  Var y = x;
  for (const Linear& layer : layers_) y = layer(y);
  return y;
}

void Mlp::params(const VisitParams& visit) {
  for (size_t i = 0; i < layers_.size(); ++i) visit_part(visit, std::to_string(i), layers_[i]);
}

Embedding::Embedding(int64_t words, int64_t size, Random& random)
    : table_(Var::leaf(initial("normal", {words, size}, random))) {}

LayerNorm::LayerNorm(int64_t size, real epsilon)
    : gain_(Var::leaf(Tensor::full({size}, 1))), bias_(Var::leaf(Tensor::zeros({size}))), epsilon_(epsilon) {}

void LayerNorm::params(const VisitParams& visit) {
  visit("gain", gain_);
  visit("bias", bias_);
}

Dropout::Dropout(real rate) : rate_(rate) {
  require(rate >= 0 && rate < 1, "Dropout: the rate must be in [0, 1), got ", rate);
}

Conv2d::Conv2d(int64_t in, int64_t out, int64_t kernel, Random& random, const Conv2dOptions& options,
               const std::string& initialiser)
    : weight_(Var::leaf(initial(initialiser, {out, in, kernel, kernel}, random))),
      bias_(Var::leaf(Tensor::zeros({out}))),
      options_(options) {}

void Conv2d::params(const VisitParams& visit) {
  visit("weight", weight_);
  visit("bias", bias_);
}

GroupNorm::GroupNorm(int64_t channels, const GroupNormOptions& options)
    : gain_(Var::leaf(Tensor::full({channels}, 1))), bias_(Var::leaf(Tensor::zeros({channels}))), options_(options) {}

void GroupNorm::params(const VisitParams& visit) {
  visit("gain", gain_);
  visit("bias", bias_);
}

Tensor sinusoidal_positions(int64_t steps, int64_t size) {
  Tensor table({steps, size});
  for (int64_t i = 0; i < size; ++i) {
    const double slowness = std::pow(10000.0, static_cast<double>(i / 2 * 2) / static_cast<double>(size));
    for (int64_t t = 0; t < steps; ++t) {
      const double angle = static_cast<double>(t) / slowness;
      table.data()[t * size + i] = static_cast<real>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

Positions Positions::sinusoidal(int64_t size) {
  Positions p;
  p.size_ = size;
  p.sinusoids_ = sinusoidal_positions(512, size);
  return p;
}

Positions Positions::learned(int64_t most, int64_t size, Random& random) {
  Positions p;
  p.size_ = size;
  p.table_ = Var::leaf(initial("normal", {most, size}, random));
  return p;
}

Var Positions::operator()(const Var& x, int64_t first) const {
  require(x.defined() && x.rank() == 3 && x.dim(2) == size_ && first >= 0, "Positions: expected x [B,T,", size_,
          "], got ", x.shape());
  const int64_t end = first + x.dim(1);
  require(!table_.defined() || end <= table_.dim(0), "Positions: at most ", table_.defined() ? table_.dim(0) : 0,
          " positions have been learned, got ", end);
  if (table_.defined()) return add(x, slice(table_, 0, first, end));
  return add(x, sinusoids(end).rows(first, end));
}

Tensor Positions::sinusoids(int64_t end) const {
  return end <= sinusoids_.dim(0) ? sinusoids_ : sinusoidal_positions(end, size_);
}

Var Positions::at(const Var& x, std::span<const int64_t> positions) const {
  const int64_t N = static_cast<int64_t>(positions.size());
  require(x.defined() && x.shape() == Shape{N, 1, size_}, "Positions: expected x [", N, ",1,", size_, "], got ",
          x.shape());
  const int64_t last = N == 0 ? 0 : *std::max_element(positions.begin(), positions.end());
  require(!table_.defined() || last < table_.dim(0), "Positions: at most ", table_.defined() ? table_.dim(0) : 0,
          " positions have been learned, got ", last + 1);
  const Ids ids({N, 1}, std::vector<int32_t>(positions.begin(), positions.end()));
  return add(x, embedding(table_.defined() ? table_ : Var(sinusoids(last + 1)), ids));
}

void Positions::params(const VisitParams& visit) {
  if (table_.defined()) visit("table", table_);
}

}  // namespace attend::nn
