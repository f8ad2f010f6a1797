// What kernels are given, and what stands behind it.
#pragma once

#include <vector>

#include "attend/base/random.h"
#include "attend/base/real.h"

namespace attend::kernels {

/// Behind what a kernel may write.
constexpr real kGuard = 12345;

inline std::vector<real> normal_numbers(size_t count, uint64_t stream) {
  Random random(1, stream);
  std::vector<real> x(count);
  for (real& v : x) v = static_cast<real>(random.normal());
  return x;
}

}  // namespace attend::kernels
