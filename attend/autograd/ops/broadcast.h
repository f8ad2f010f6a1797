// Broadcasting: which element of a smaller operand meets which element of the result.
#pragma once

#include <cstddef>

#include "attend/base/shape.h"
#include "attend/tensor/tensor.h"

namespace attend {

/// The shape of a ∘ b; rejects shapes that do not match, naming `where`.
Shape broadcast_shape(const char* where, const Shape& a, const Shape& b);

/// Walks over the rows (last axis) of `full`: where an operand's row starts, and whether it advances.
class BroadcastRows {
 public:
  BroadcastRows(const Shape& full, const Shape& operand);
  /// Length of a row, and how many there are.
  size_t length() const { return length_; }
  size_t count() const { return count_; }
  /// 1 if the operand has the last axis, 0 if one number serves the whole row.
  size_t step() const { return step_; }
  /// Offset of the operand's row that meets row `row`.
  size_t offset(size_t row) const {
    size_t at = 0;
    for (int axis = rank_ - 2; axis >= 0; --axis) {
      at += row % extents_[axis] * strides_[axis];
      row /= extents_[axis];
    }
    return at;
  }

 private:
  size_t length_ = 1, count_ = 1, step_ = 0;
  int rank_ = 0;
  size_t extents_[Shape::kMaxRank] = {}, strides_[Shape::kMaxRank] = {};
};

/// Sums `x` over the axes along which `shape` was repeated: the gradient of broadcasting.
Tensor sum_to_shape(const Tensor& x, const Shape& shape);

}  // namespace attend
