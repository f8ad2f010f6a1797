#include "attend/base/shape.h"

#include <ostream>
#include <sstream>

#include "attend/base/error.h"

namespace attend {

Shape::Shape(std::initializer_list<int64_t> extents) : Shape(extents.begin(), extents.end()) {}

void Shape::append(int64_t extent) {
  constexpr size_t kMaxElements = size_t{1} << 48;
  require(rank_ < kMaxRank, "Shape: at most ", kMaxRank, " axes are supported, got more after ", *this);
  require(extent >= 0, "Shape: extents must not be negative, got ", extent, " after ", *this);
  const size_t before = size();
  require(extent == 0 || before <= kMaxElements / static_cast<size_t>(extent), "Shape: at most 2^48 elements, got ",
          *this, " times ", extent);
  extents_[rank_++] = extent;
}

Shape Shape::with(int axis, int64_t extent) const {
  Shape changed = *this;
  changed.extents_[axis < 0 ? axis + rank_ : axis] = extent;
  return changed;
}

Shape Shape::without(int axis) const {
  Shape rest;
  for (int i = 0; i < rank_; ++i) {
    if (i != (axis < 0 ? axis + rank_ : axis)) rest.append(extents_[i]);
  }
  return rest;
}

size_t Shape::outer(int axis) const {
  size_t product = 1;
  for (int i = 0; i < axis; ++i) product *= static_cast<size_t>(extents_[i]);
  return product;
}

size_t Shape::inner(int axis) const {
  size_t product = 1;
  for (int i = axis + 1; i < rank_; ++i) product *= static_cast<size_t>(extents_[i]);
  return product;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int i = 0; i < shape.rank(); ++i) out << (i > 0 ? ", " : "") << shape[i];
  return out << ']';
}

std::string to_string(const Shape& shape) {
  std::ostringstream text;
  text << shape;
  return text.str();
}

int resolve_axis(const char* where, const Shape& shape, int axis) {
  require(axis >= -shape.rank() && axis < shape.rank(), where, ": axis must be within ", -shape.rank(), " … ",
          shape.rank() - 1, " for shape ", shape, ", got ", axis);
  return axis < 0 ? axis + shape.rank() : axis;
}

}  // namespace attend
