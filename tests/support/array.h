// Array: a shape and plain doubles, for references that are written as loops and share nothing with the library's maths.
#pragma once

#include <cmath>
#include <vector>

#include "attend/base/random.h"
#include "attend/base/shape.h"
#include "attend/tensor/tensor.h"

namespace attend::test {

constexpr bool kDouble = sizeof(real) == sizeof(double);

struct Array {
  Shape shape;
  std::vector<double> v;

  Array() = default;
  explicit Array(const Shape& s) : shape(s), v(s.size(), 0.0) {}
  int64_t dim(int axis) const { return shape[axis]; }
  size_t size() const { return v.size(); }

  template <class... Index>
  size_t at(Index... index) const {
    size_t offset = 0;
    int axis = 0;
    ((offset = offset * static_cast<size_t>(shape[axis++]) + static_cast<size_t>(index)), ...);
    return offset;
  }
  template <class... Index>
  double& operator()(Index... index) {
    return v[at(index...)];
  }
  template <class... Index>
  double operator()(Index... index) const {
    return v[at(index...)];
  }
};

inline Tensor to_tensor(const Array& a) {
  Tensor t(a.shape);
  for (size_t i = 0; i < a.size(); ++i) t.data()[i] = static_cast<real>(a.v[i]);
  return t;
}

inline Array to_array(const Tensor& t) {
  Array a(t.shape());
  for (size_t i = 0; i < t.size(); ++i) a.v[i] = t.data()[i];
  return a;
}

/// Standard normal numbers, rounded to what `float` holds so that both builds start from the same values.
inline Array random_array(const Shape& shape, Random& random) {
  Array a(shape);
  for (double& x : a.v) x = static_cast<float>(random.normal());
  return a;
}

/// Normal numbers of a stream.
inline Tensor normal(const Shape& shape, uint64_t stream) {
  Random random(1, stream);
  return to_tensor(random_array(shape, random));
}

}  // namespace attend::test
