// Ops along the last axis: softmax, layer norm, cross-entropy; and reductions over any axis.
#pragma once

#include "attend/autograd/var.h"

namespace attend {

/// eˣ/Σeˣ over the last axis. `mask` (1 = counts, 0 = does not) has x's last extent and broadcasts over the other axes,
/// e.g. [B,1,Tk] for [B,Tq,Tk]. A masked element is exactly 0, as is every element of a fully masked row.
Var softmax(const Var& x, const Tensor& mask = {});
/// x − ln Σeˣ; a masked element is -1e30 (its exponential is 0), a fully masked row is 0.
Var log_softmax(const Var& x, const Tensor& mask = {});

/// The point of the simplex nearest to x, over the last axis (Martins & Astudillo 2016, eq. 2): max(x − τ, 0) with τ such
/// that it sums to one. `mask` as for softmax.
Var sparsemax(const Var& x, const Tensor& mask = {});

struct CrossEntropyOptions {
  /// The share of the target that is spread evenly over all classes (Szegedy et al. 2016).
  real smoothing = 0;
  /// Rows with this target do not count.
  int32_t ignored = -1;
};
/// Mean over the rows that count of −Σ target∘log_softmax(logits): logits [..,V], targets [..] → scalar (0 if no row
/// counts). Keeps one number per row for the backward pass, no probabilities.
Var cross_entropy(const Var& logits, const Ids& targets, const CrossEntropyOptions& options = {});

/// ½(H(a) + H(b)) + weight·½·mean(KL(p‖q) + KL(q‖p)): H the cross-entropy of logits a, b [..,V] with the same targets, p and
/// q their softmaxes (R-Drop; Liang et al. 2021, eq. 4, halved). Keeps four numbers per row, no probabilities.
Var paired_cross_entropy(const Var& a, const Var& b, const Ids& targets, real weight,
                         const CrossEntropyOptions& options = {});

/// (x − mean)/√(variance + epsilon) ∘ gain + bias over the last axis (Ba et al. 2016, eq. 4); gain and bias [N].
Var layer_norm(const Var& x, const Var& gain, const Var& bias, real epsilon = real(1e-5));

/// Over one axis, which disappears.
Var sum(const Var& x, int axis);
Var mean(const Var& x, int axis);
/// The maximum; on a tie the gradient goes to the first.
Var max(const Var& x, int axis);
/// Over everything → scalar.
Var sum(const Var& x);
Var mean(const Var& x);

}  // namespace attend
