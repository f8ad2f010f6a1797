// Shape: the extents of a tensor, stored inline so that making one costs no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>

namespace attend {

class Shape {
 public:
  static constexpr int kMaxRank = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> extents);
  /// From any range of extents; rejects more than kMaxRank of them, a negative one, or a product beyond 2^48 elements.
  template <class Iterator>
  Shape(Iterator begin, Iterator end) {
    for (; begin != end; ++begin) append(*begin);
  }

  int rank() const { return rank_; }
  /// Number of elements; 1 for the empty shape (a scalar).
  size_t size() const {
    size_t product = 1;
    for (int i = 0; i < rank_; ++i) product *= static_cast<size_t>(extents_[i]);
    return product;
  }
  /// Extent of an axis; negative axes count from the end, as in `shape[-1]`.
  int64_t operator[](int axis) const { return extents_[axis < 0 ? axis + rank_ : axis]; }
  const int64_t* begin() const { return extents_.data(); }
  const int64_t* end() const { return extents_.data() + rank_; }

  void append(int64_t extent);
  Shape with(int axis, int64_t extent) const;
  Shape without(int axis) const;
  /// Product of the extents before `axis`, and of those after it.
  size_t outer(int axis) const;
  size_t inner(int axis) const;

  bool operator==(const Shape& other) const {
    if (rank_ != other.rank_) return false;
    for (int i = 0; i < rank_; ++i) {
      if (extents_[i] != other.extents_[i]) return false;
    }
    return true;
  }

 private:
  std::array<int64_t, kMaxRank> extents_{};
  int rank_ = 0;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);
std::string to_string(const Shape& shape);

/// The axis in [0, rank) that `axis` means; `where` names the caller in the error.
int resolve_axis(const char* where, const Shape& shape, int axis);

}  // namespace attend
