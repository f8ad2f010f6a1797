// Numbers that are none: infinities and what is not a number (NaN).
#pragma once

#include <cstddef>
#include <optional>

#include "attend/base/shape.h"
#include "attend/tensor/tensor.h"

namespace attend {

/// The place of the first element that is infinite or not a number; nothing if all are finite.
std::optional<size_t> first_not_finite(const Tensor& tensor);
/// That place along each axis: element 7 of [2, 5] is [1, 2].
Shape index_of(const Shape& shape, size_t place);

}  // namespace attend
