// How far two distributions are apart, each given by a row of logits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"

namespace attend::kernels {

/// p = softmax(a), q = softmax(b) of rows [rows, n]. Rows whose target is `ignored` do not count.
struct Divergence {
  const real* a = nullptr;
  const real* b = nullptr;
  const real* a_log_sum = nullptr;  ///< ln Σ e^a of each row, as cross_entropy() gives it
  const real* b_log_sum = nullptr;
  const int32_t* targets = nullptr;
  size_t rows = 0, n = 0;
  int32_t ignored = -1;
};
/// there = KL(p‖q), back = KL(q‖p) of each row; 0 for ignored rows.
void divergence(const Divergence& problem, real* there, real* back);
/// Adds scale times the gradient of Σ KL(p‖q) + KL(q‖p): with d = ln p − ln q,
/// da += scale·(p∘(d − KL(p‖q)) + p − q), db += scale·(q∘(−d − KL(q‖p)) + q − p).
void divergence_backward(const Divergence& problem, const real* there, const real* back, real scale, real* da,
                         real* db);

}  // namespace attend::kernels
