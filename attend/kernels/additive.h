// The additive score (Bahdanau et al. 2015, eq. in section A.1.2) without a [B,Tq,Tk,H] tensor in memory.
#pragma once

#include <cstddef>

#include "attend/base/real.h"

namespace attend::kernels {

/// q [B,Tq,H] and k [B,Tk,H] are already projected (Wq and Uk).
struct AdditiveProblem {
  size_t batch = 0, queries = 0, keys = 0, hidden = 0;
  const real *q = nullptr, *k = nullptr, *v = nullptr;
};

/// energies[b,i,j] = Σₕ v[h]·tanh(q[b,i,h] + k[b,j,h]).
void additive_forward(const AdditiveProblem& p, real* energies);
/// From de [B,Tq,Tk]: overwrites dq, adds to dk and dv (the keys of a source serve every step of a decoder). The
/// hyperbolic tangents are recomputed.
void additive_backward(const AdditiveProblem& p, const real* de, real* dq, real* dk, real* dv);

}  // namespace attend::kernels
