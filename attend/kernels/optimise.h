// Optimiser updates: one pass over all parameters together. They are laid end to end and split into chunks of a fixed
// size, so that a large matrix keeps every thread busy, small ones do not each cost a task, and the result does not
// depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "attend/base/real.h"

namespace attend::kernels {

/// The memory of one parameter p with its gradient g; `first` and `second` are what the method keeps of earlier steps.
struct Update {
  real* value = nullptr;
  const real* gradient = nullptr;
  real* first = nullptr;
  real* second = nullptr;
  size_t size = 0;
  int64_t step = 1;  // t: this parameter's updates so far, this one included
};

// In every rule g stands for scale·gradient, so that clipping needs no separate pass.

/// g ← g + decay·p; without momentum p ← p − rate·g; with it b ← momentum·b + g and p ← p − rate·b, or
/// p ← p − rate·(g + momentum·b) for Nesterov's (Sutskever et al. 2013). b is `first`; it starts at zero.
struct SgdRule {
  double rate = 0;
  double momentum = 0;
  double decay = 0;
  bool nesterov = false;
  double scale = 1;
};
void sgd(std::span<const Update> updates, const SgdRule& rule);

/// m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², p ← p − rate·m̂/(√v̂ + ε) with m̂ = m/(1−β₁ᵗ) and v̂ = v/(1−β₂ᵗ) (Kingma & Ba
/// 2015, algorithm 1). g ← g + decay·p before; or, decoupled, p ← (1 − rate·decay)·p (Loshchilov & Hutter 2019,
/// algorithm 2). m is `first`, v `second`.
struct AdamRule {
  double rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0;
  bool decoupled = false;
  double scale = 1;
};
void adam(std::span<const Update> updates, const AdamRule& rule);

/// s ← ρs + (1−ρ)g², Δ = √(d+ε)/√(s+ε)·g, d ← ρd + (1−ρ)Δ², p ← p − rate·Δ (Zeiler 2012, algorithm 1); g ← g + decay·p
/// before. s is `first`, d `second`.
struct AdadeltaRule {
  double rate = 1;
  double rho = 0.9;
  double epsilon = 1e-6;
  double decay = 0;
  double scale = 1;
};
void adadelta(std::span<const Update> updates, const AdadeltaRule& rule);

/// Σ x² over all parts, in double precision; the same bits for any number of threads and, in f32, any instruction set.
double sum_of_squares(std::span<const std::span<const real>> parts);
/// x ← factor·x over all parts.
void scale(std::span<const std::span<real>> parts, real factor);

}  // namespace attend::kernels
