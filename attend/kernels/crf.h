// Linear-chain conditional random fields (Lafferty et al. 2001): sums and maxima over all labellings of one sequence.
//
// A labelling y of T places scores s(y) = start[y₀] + Σₜ eₜ[yₜ] + Σₜ A[yₜ,yₜ₊₁] + end[y_T₋₁]. Everything is in logarithms and in
// double precision: for a long sequence ln Z is large, and the result is its small difference to s(y).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attend/base/real.h"

namespace attend::kernels {

/// The scores that do not depend on the input, prepared for summation: rows are padded to `stride`.
struct CrfTable {
  /// transitions [L,L], from × to; start and end [L].
  CrfTable(size_t labels, const real* transitions, const real* start, const real* end);

  double transition(size_t from, size_t to) const { return onward[from * stride + to]; }

  size_t labels, stride;
  double largest;                            // of the transitions
  std::vector<double> onward, back;          // A and Aᵀ
  std::vector<double> exp_onward, exp_back;  // e^(A − largest), and transposed
  std::vector<double> start, end;
};

/// alpha[t,j] = ln Σ e^s over the labellings of places 0 … t that end in j; emissions [T,L]. Returns ln Z, 0 for T = 0.
double crf_forward(const CrfTable& table, const double* emissions, size_t steps, double* alpha);

/// beta[t,i] = ln Σ e^s over what may follow label i at place t (without eₜ itself).
void crf_backward(const CrfTable& table, const double* emissions, size_t steps, double* beta);

/// Where expected counts are added: [T,L], [L,L], [L] and [L].
struct CrfCounts {
  double *emissions, *transitions, *start, *end;
};
/// Adds scale·∂ln Z: how often each label, and each pair of neighbours, occurs in a labelling drawn from the field.
void crf_expectations(const CrfTable& table, const double* emissions, size_t steps, const double* alpha,
                      const double* beta, double log_z, double scale, const CrfCounts& counts);

/// The labelling with the highest score (Viterbi 1967), ties in favour of the lower label, from the last place
/// backwards; returns s(y).
double crf_best(const CrfTable& table, const double* emissions, size_t steps, int32_t* labels);

}  // namespace attend::kernels
