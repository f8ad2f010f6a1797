#include "attend/tensor/finite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace attend {

std::optional<size_t> first_not_finite(const Tensor& tensor) {
  bool finite = true;  // without a branch per element, so that it runs as fast as memory is read
  for (const real x : tensor.values()) finite &= std::abs(x) <= std::numeric_limits<real>::max();
  if (finite) return std::nullopt;
  const auto found = std::ranges::find_if(tensor.values(), [](real x) { return !std::isfinite(x); });
  return static_cast<size_t>(found - tensor.values().begin());
}

Shape index_of(const Shape& shape, size_t place) {
  std::array<int64_t, Shape::kMaxRank> at{};
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const auto extent = static_cast<size_t>(shape[axis]);
    at[static_cast<size_t>(axis)] = static_cast<int64_t>(place % extent);
    place /= extent;
  }
  return Shape(at.begin(), at.begin() + shape.rank());
}

}  // namespace attend
