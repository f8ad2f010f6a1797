#include "attend/kernels/sparsemax.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "attend/kernels/parallel.h"

namespace attend::kernels {
namespace {

/// τ by Algorithm 1: with x sorted downwards, the support is the longest prefix whose last 1 + k·x₍ₖ₎ exceeds its sum.
real threshold(std::vector<real>& sorted) {
  std::sort(sorted.begin(), sorted.end(), std::greater<real>());
  double sum = 0, tau = 0;
  for (size_t k = 0; k < sorted.size(); ++k) {
    sum += static_cast<double>(sorted[k]);
    const double count = static_cast<double>(k + 1);
    if (1 + count * static_cast<double>(sorted[k]) <= sum) break;
    tau = (sum - 1) / count;
  }
  return static_cast<real>(tau);
}

template <class Row>
void over_rows(size_t rows, size_t n, Row&& row) {
  parallel_ranges<1>(rows, std::max<size_t>(1, 4096 / (n + 1)), [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) row(r);
  });
}

}  // namespace

void sparsemax(const real* x, size_t rows, size_t n, RowMask mask, real* y) {
  over_rows(rows, n, [&](size_t r) {
    const real* counts = mask.row(r, n);
    std::vector<real> sorted;
    sorted.reserve(n);
    for (size_t j = 0; j < n; ++j) {
      if (!counts || counts[j] != 0) sorted.push_back(x[r * n + j]);
    }
    // Differences from the largest: the result is the same, and sums of large numbers lose no precision.
    const real largest = sorted.empty() ? 0 : *std::max_element(sorted.begin(), sorted.end());
    for (real& v : sorted) v -= largest;
    const real tau = threshold(sorted);
    for (size_t j = 0; j < n; ++j) {
      y[r * n + j] = !counts || counts[j] != 0 ? std::max(x[r * n + j] - largest - tau, real{0}) : real{0};
    }
  });
}

void sparsemax_backward(const real* dy, const real* y, size_t rows, size_t n, real* dx) {
  over_rows(rows, n, [&](size_t r) {
    double sum = 0;
    size_t support = 0;
    for (size_t j = 0; j < n; ++j) {
      if (y[r * n + j] <= 0) continue;
      sum += static_cast<double>(dy[r * n + j]);
      ++support;
    }
    const real mean = support > 0 ? static_cast<real>(sum / static_cast<double>(support)) : real{0};
    for (size_t j = 0; j < n; ++j) dx[r * n + j] = y[r * n + j] > 0 ? dy[r * n + j] - mean : real{0};
  });
}

}  // namespace attend::kernels
