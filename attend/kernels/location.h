// The location-aware score (Chorowski et al. 2015, eq. 8–9) of one step: additive, with the weights of the step before, convolved,
// inside the hyperbolic tangent; without a [B,Tk,H] tensor for each step.
#pragma once

#include <cstddef>

#include "attend/base/real.h"

namespace attend::kernels {

/// q [B,H] and k [B,Tk,H] are already projected; previous [B,Tk]; filters F [filters,2·reach + 1], location Z [filters,H].
struct LocationProblem {
  size_t batch = 0, keys = 0, hidden = 0, filters = 0, reach = 0;
  const real *q = nullptr, *k = nullptr, *v = nullptr;
  const real *previous = nullptr, *f = nullptr, *z = nullptr;
};

/// energies[b,j] = Σₕ v[h]·tanh(q[b,h] + k[b,j,h] + Σ_c z[c,h]·s[c,j]), s[c,j] = Σ_d f[c,d]·previous[b,j + d − reach].
void location_forward(const LocationProblem& p, real* energies);

/// Overwrites q and previous, adds to the others.
struct LocationGradients {
  real *q = nullptr, *k = nullptr, *v = nullptr;
  real *previous = nullptr, *f = nullptr, *z = nullptr;
};
/// From de [B,Tk]; the hyperbolic tangents are recomputed.
void location_backward(const LocationProblem& p, const real* de, const LocationGradients& d);

}  // namespace attend::kernels
