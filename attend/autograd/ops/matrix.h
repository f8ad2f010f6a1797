// Matrix products.
#pragma once

#include "attend/autograd/var.h"
#include "attend/kernels/gemm.h"

namespace attend {

using kernels::Activation;

/// op(a)[m,k] · op(b)[k,n] → [m,n], where op transposes if requested.
Var matmul(const Var& a, const Var& b, bool transpose_a = false, bool transpose_b = false);
/// The same for every matrix of a batch: op(a)[B,m,k] · op(b)[B,k,n] → [B,m,n].
Var batched_matmul(const Var& a, const Var& b, bool transpose_a = false, bool transpose_b = false);
/// f(x·Wᵀ + b): x [..,I], weight [O,I], bias [O] or undefined → [..,O].
Var linear(const Var& x, const Var& weight, const Var& bias, Activation activation = Activation::none);
/// f(x·Wᵀ + y·Uᵀ + b): x [N,I] and y [N,J], weights [O,I] and [O,J], bias [O] or undefined → [N,O]: `linear` of x and y
/// concatenated, without concatenating them.
Var linear_pair(const Var& x, const Var& x_weight, const Var& y, const Var& y_weight, const Var& bias,
                Activation activation = Activation::none);

}  // namespace attend
