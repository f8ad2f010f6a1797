// Tensor: a shape over shared, aligned, pooled memory; always contiguous, last axis fastest.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

#include "attend/base/memory.h"
#include "attend/base/real.h"
#include "attend/base/shape.h"

namespace attend {

class Tensor {
 public:
  /// Undefined: no shape, no memory.
  Tensor() = default;
  /// Uninitialised.
  explicit Tensor(const Shape& shape);

  static Tensor zeros(const Shape& shape);
  static Tensor full(const Shape& shape, real value);
  /// Copies `values`, which must match the shape in number.
  static Tensor of(const Shape& shape, std::span<const real> values);
  static Tensor of(const Shape& shape, std::initializer_list<real> values);
  static Tensor scalar(real value);

  bool defined() const { return data_ != nullptr; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int axis) const { return shape_[axis]; }
  size_t size() const { return shape_.size(); }

  const real* data() const { return data_; }
  real* data() { return data_; }
  std::span<const real> values() const { return {data_, size()}; }
  std::span<real> values() { return {data_, size()}; }
  const real* begin() const { return data_; }
  const real* end() const { return data_ + size(); }

  /// The only value of a tensor with one element.
  real item() const;
  /// The same memory under another shape of the same size. One extent may be -1, to be inferred.
  Tensor reshape(const Shape& shape) const;
  Tensor reshape(std::initializer_list<int64_t> extents) const;
  /// Rows [begin, end) of the first axis: a view.
  Tensor rows(int64_t begin, int64_t end) const;
  /// Row i without its axis: a view.
  Tensor operator[](int64_t row) const;
  Tensor clone() const;
  void fill(real value);
  /// True if nothing else shares this memory, so that it may be overwritten in place.
  bool unique() const { return memory_.unique(); }

 private:
  memory::Handle memory_;
  real* data_ = nullptr;
  Shape shape_;
};

/// The shape, then the values; of more than a hundred, only those at the ends of each axis.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

/// Whole numbers with a shape: token ids, class labels.
struct Ids {
  Shape shape;
  std::vector<int32_t> values;

  Ids() = default;
  Ids(const Shape& shape, std::vector<int32_t> values);
  size_t size() const { return values.size(); }
};

}  // namespace attend
