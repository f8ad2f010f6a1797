// Inputs and checks that the rows share.
#pragma once

#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/random.h"

namespace attend::bench {

inline Tensor normal(const Shape& shape, double scale = 1, uint64_t stream = 0) {
  Random random(1, stream);
  Tensor t(shape);
  for (real& x : t.values()) x = static_cast<real>(scale * random.normal());
  return t;
}

inline void require_near(const char* what, double got, double expected, double tolerance) {
  require(std::abs(got - expected) <= tolerance * (1 + std::abs(expected)), "bench: ", what, " is wrong: expected ",
          expected, ", got ", got);
}

/// Σ u∘v, for checks of gradients along a direction.
inline double dot(const Tensor& u, const Tensor& v) {
  double sum = 0;
  for (size_t i = 0; i < u.size(); ++i) sum += double{u.data()[i]} * double{v.data()[i]};
  return sum;
}

/// ⟨∂f/∂x, d⟩ along `direction` must match the change of f, in float: a coarse check of a whole backward pass.
/// `f` gives the objective Σ cotangent∘output for a value of x.
template <class Function>
void require_slope(const char* what, const Tensor& x, const Tensor& gradient, const Tensor& direction, double step,
                   Function f) {
  Tensor up = x.clone(), down = x.clone();
  for (size_t i = 0; i < x.size(); ++i) {
    up.data()[i] += static_cast<real>(step) * direction.data()[i];
    down.data()[i] -= static_cast<real>(step) * direction.data()[i];
  }
  const double numeric = (f(up) - f(down)) / (2 * step), analytic = dot(gradient, direction);
  const double size = std::sqrt(dot(gradient, gradient) * dot(direction, direction));
  require(std::abs(numeric - analytic) <= 0.02 * size + 0.05 * std::abs(analytic), "bench: the gradient of ", what,
          " is wrong: along a direction ", analytic, " came, the function changes by ", numeric);
}

/// What is timed for forward + backward: a tape, the op, and the seed.
template <class Forward>
std::function<void()> forward_backward(std::vector<Var> leaves, Tensor seed, Forward forward) {
  return [leaves = std::move(leaves), seed = std::move(seed), forward = std::move(forward)]() mutable {
    for (Var& leaf : leaves) leaf.clear_gradient();
    Tape tape;
    const Var y = forward();
    tape.backward(y, seed);
  };
}

}  // namespace attend::bench
