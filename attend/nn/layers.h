// Layers without state and without attention. Each owns its parameters and names them in params(visit).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/autograd/ops/convolution.h"
#include "attend/autograd/ops/elementwise.h"
#include "attend/autograd/ops/matrix.h"
#include "attend/autograd/ops/rows.h"
#include "attend/autograd/ops/shape.h"
#include "attend/base/random.h"
#include "attend/nn/layer.h"

namespace attend::nn {

/// f(x·Wᵀ + b): [..,in] → [..,out].
class Linear {
 public:
  Linear(int64_t in, int64_t out, Random& random, bool bias = true, Activation activation = Activation::none,
         const std::string& initialiser = "glorot");
  Var operator()(const Var& x) const { return linear(x, weight_, bias_, activation_); }
  void params(const VisitParams& visit);

 private:
  Var weight_, bias_;
  Activation activation_;
};

/// f(x·Wᵀ + y·Uᵀ + b): x [N,first] and y [N,second] → [N,out]. An undefined y counts as zeros.
class LinearPair {
 public:
  LinearPair(int64_t first, int64_t second, int64_t out, Random& random, Activation activation = Activation::none);
  Var operator()(const Var& x, const Var& y) const;
  void params(const VisitParams& visit);

 private:
  Var first_, second_, bias_;
  Activation activation_;
};

/// Linear layers one after the other, with an activation between them: sizes {in, hidden…, out}.
class Mlp {
 public:
  Mlp(const std::vector<int64_t>& sizes, Activation activation, Random& random);
  Var operator()(const Var& x) const;
  void params(const VisitParams& visit);

 private:
  std::vector<Linear> layers_;
};

/// Rows of a table: ids [..] → [..,size].
class Embedding {
 public:
  Embedding(int64_t words, int64_t size, Random& random);
  Var operator()(const Ids& ids) const { return embedding(table_, ids); }
  void params(const VisitParams& visit) { visit("table", table_); }
  /// For an output layer that shares it.
  const Var& table() const { return table_; }

 private:
  Var table_;
};

/// Ba et al. 2016.
class LayerNorm {
 public:
  explicit LayerNorm(int64_t size, real epsilon = real(1e-5));
  Var operator()(const Var& x) const { return layer_norm(x, gain_, bias_, epsilon_); }
  void params(const VisitParams& visit);

 private:
  Var gain_, bias_;
  real epsilon_;
};

/// Drops in training, that is, when the caller passes a stream of random numbers; otherwise the identity.
class Dropout {
 public:
  explicit Dropout(real rate);
  Var operator()(const Var& x, Random* training) const { return training ? dropout(x, rate_, *training) : x; }
  real rate() const { return rate_; }
  void params(const VisitParams&) {}

 private:
  real rate_;
};

/// [B,in,H,W] → [B,out,H',W'].
class Conv2d {
 public:
  Conv2d(int64_t in, int64_t out, int64_t kernel, Random& random, const Conv2dOptions& options = {},
         const std::string& initialiser = "glorot");
  Var operator()(const Var& x) const { return conv2d(x, weight_, bias_, options_); }
  void params(const VisitParams& visit);

 private:
  Var weight_, bias_;
  Conv2dOptions options_;
};

/// Wu & He 2018: normalises groups of channels of one image, so the size of the batch does not matter. Includes `relu`.
class GroupNorm {
 public:
  GroupNorm(int64_t channels, const GroupNormOptions& options);
  Var operator()(const Var& x) const { return group_norm(x, gain_, bias_, options_); }
  void params(const VisitParams& visit);

 private:
  Var gain_, bias_;
  GroupNormOptions options_;
};

/// p[t, 2i] = sin(t/10000^(2i/size)), p[t, 2i+1] = cos of the same (Vaswani et al. 2017, section 3.5): [steps, size].
Tensor sinusoidal_positions(int64_t steps, int64_t size);

/// x + position: x [B,T,size], by sinusoids or by a learned table of `most` positions.
class Positions {
 public:
  static Positions sinusoidal(int64_t size);
  static Positions learned(int64_t most, int64_t size, Random& random);
  /// `first` is the position of x's first step, for decoding step by step.
  Var operator()(const Var& x, int64_t first = 0) const;
  /// Each row at its own position: x [N,1,size].
  Var at(const Var& x, std::span<const int64_t> positions) const;
  void params(const VisitParams& visit);

 private:
  /// At least rows [0, end) of the sinusoids.
  Tensor sinusoids(int64_t end) const;

  int64_t size_ = 0;
  Var table_;         // undefined for sinusoids
  Tensor sinusoids_;  // enough for most inputs
};

}  // namespace attend::nn
