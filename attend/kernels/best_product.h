// The yardstick for products: the best that oneDNN, and so this machine, can do.
#pragma once

#include <cstddef>
#include <string>

namespace attend::kernels {

/// The fastest f32 product that oneDNN achieves on this machine with the current number of threads, and which one it
/// was.
struct BestProduct {
  double gflops = 0;
  size_t m = 0, n = 0, k = 0;
  std::string entry;  // "sgemm NN", "sgemm NT", "matmul packed"
};
/// Tries every entry point on every shape, for about `seconds` in total; each is checked against plain sums before it
/// is timed.
BestProduct best_product(double seconds);

}  // namespace attend::kernels
