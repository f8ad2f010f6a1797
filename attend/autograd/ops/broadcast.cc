#include "attend/autograd/ops/broadcast.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/rows.h"

namespace attend {

Shape broadcast_shape(const char* where, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape result;
  for (int i = rank; i >= 1; --i) {
    const int64_t x = i <= a.rank() ? a[-i] : 1, y = i <= b.rank() ? b[-i] : 1;
    require(x == y || x == 1 || y == 1, where, ": shapes must be equal or 1 axis by axis from the last, got ", a,
            " and ", b);
    result.append(x == 1 ? y : x);
  }
  return result;
}

BroadcastRows::BroadcastRows(const Shape& full, const Shape& operand) : rank_(full.rank()) {
  size_t stride = 1;
  for (int i = 1; i <= rank_; ++i) {
    const int axis = rank_ - i;
    const int64_t own = i <= operand.rank() ? operand[-i] : 1;
    extents_[axis] = static_cast<size_t>(full[axis]);
    strides_[axis] = own == 1 ? 0 : stride;
    stride *= static_cast<size_t>(own);
  }
  if (rank_ > 0) {
    length_ = extents_[rank_ - 1];
    step_ = strides_[rank_ - 1];
    count_ = length_ == 0 ? 0 : full.size() / length_;
    // A row of one element: its stride does not matter, and 1 takes the vector path.
    if (length_ == 1) step_ = 1;
  }
}

Tensor sum_to_shape(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Tensor sum = Tensor::zeros(shape);
  const BroadcastRows rows(x.shape(), shape);
  // [N] out of [.., N], a bias: sums over columns, on all threads.
  if (rows.step() == 1 && shape.size() == rows.length()) {
    kernels::sum_columns(x.data(), rows.count(), rows.length(), sum.data(), true);
    return sum;
  }
  for (size_t row = 0; row < rows.count(); ++row) {
    real* out = sum.data() + rows.offset(row);
    const real* in = x.data() + row * rows.length();
    if (rows.step() == 1) {
      for (size_t i = 0; i < rows.length(); ++i) out[i] += in[i];
    } else {
      *out += kernels::sum(in, rows.length());
    }
  }
  return sum;
}

}  // namespace attend
