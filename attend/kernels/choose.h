// Choosing from rows of logits, for decoders: the largest few of each row, and what turns them into log-probabilities.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"

namespace attend::kernels {

/// Logits [rows, n], and how many to choose from each row.
struct Choices {
  const real* logits = nullptr;
  size_t rows = 0, n = 0;
  size_t k = 1;
  /// Never chosen in row r: banned[banned_from[r]] … banned[banned_from[r+1]−1]; null: no bans. They still count in ln
  /// Σ eˣ.
  const int32_t* banned = nullptr;
  const size_t* banned_from = nullptr;
};
/// Per row ln Σ eˣ and the k largest with their places [rows, k], in descending order, ties in favour of the lower
/// place; if fewer are allowed and above −∞, the remaining places are −1. Makes two passes over the logits and writes
/// nothing of their size. ln Σ eˣ = m + ln(1 + Σ over the others of e^(x−m)), with m the largest, in double precision:
/// x − ln Σ eˣ keeps its digits when it is nearly 0.
void choose(const Choices& problem, double* log_sum, real* largest, int32_t* place);

}  // namespace attend::kernels
