// Choosing from rows of logits, for decoders: the largest few of each row, and what turns them into log-probabilities.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"

namespace attend::kernels {

/// Logits [rows, n], and how many of each row are wanted.
struct Choices {
  const real* logits = nullptr;
  size_t rows = 0, n = 0;
  size_t k = 1;
  /// Never chosen in row r: banned[banned_from[r]] … banned[banned_from[r+1]−1]; null: nothing is. They count in ln Σ eˣ.
  const int32_t* banned = nullptr;
  const size_t* banned_from = nullptr;
};
/// Per row ln Σ eˣ, and the k largest with their places [rows, k], largest first and of equals the first; where there are
/// fewer that are allowed and above −∞, the place is −1. Two passes over the logits, nothing of their size is written.
void choose(const Choices& problem, real* log_sum, real* largest, int32_t* place);

}  // namespace attend::kernels
