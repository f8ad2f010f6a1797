#include "attend/tensor/tensor.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"

namespace attend {

Tensor::Tensor(const Shape& shape)
    : memory_(shape.size() * sizeof(real)), data_(reinterpret_cast<real*>(memory_.bytes())), shape_(shape) {}

Tensor Tensor::zeros(const Shape& shape) { return full(shape, 0); }

Tensor Tensor::full(const Shape& shape, real value) {
  Tensor t(shape);
  t.fill(value);
  return t;
}

Tensor Tensor::of(const Shape& shape, std::span<const real> values) {
  require(values.size() == shape.size(), "Tensor::of: shape ", shape, " needs ", shape.size(), " values, got ",
          values.size());
  Tensor t(shape);
  std::copy(values.begin(), values.end(), t.data_);
  return t;
}

Tensor Tensor::of(const Shape& shape, std::initializer_list<real> values) {
  return of(shape, std::span<const real>(values.begin(), values.size()));
}

Tensor Tensor::scalar(real value) { return full({}, value); }

real Tensor::item() const {
  require(defined() && size() == 1, "Tensor::item: expected one element, got shape ", shape_,
          defined() ? "" : " (undefined)");
  return data_[0];
}

Tensor Tensor::reshape(const Shape& shape) const {
  require(defined(), "Tensor::reshape: the tensor is undefined");
  require(shape.size() == size(), "Tensor::reshape: expected ", size(), " elements as in ", shape_, ", got ", shape);
  Tensor view = *this;
  view.shape_ = shape;
  return view;
}

Tensor Tensor::reshape(std::initializer_list<int64_t> extents) const {
  size_t known = 1;
  int open = 0;
  for (const int64_t extent : extents) {
    if (extent == -1) {
      ++open;
    } else {
      known *= static_cast<size_t>(std::max<int64_t>(extent, 0));
    }
  }
  require(open <= 1, "Tensor::reshape: at most one extent may be -1, got ", open);
  Shape shape;
  for (const int64_t extent : extents) {
    const bool fits = extent != -1 || (known > 0 && size() % known == 0);
    require(fits, "Tensor::reshape: ", shape_, " does not divide by the ", known, " elements of the known extents");
    shape.append(extent == -1 ? static_cast<int64_t>(size() / known) : extent);
  }
  return reshape(shape);
}

Tensor Tensor::rows(int64_t begin, int64_t end) const {
  require(rank() > 0 && 0 <= begin && begin <= end && end <= dim(0), "Tensor::rows: expected a range within ", shape_,
          ", got [", begin, ", ", end, ")");
  Tensor view = *this;
  view.shape_ = shape_.with(0, end - begin);
  view.data_ += static_cast<size_t>(begin) * shape_.inner(0);
  return view;
}

Tensor Tensor::operator[](int64_t row) const {
  Tensor view = rows(row, row + 1);
  view.shape_ = shape_.without(0);
  return view;
}

Tensor Tensor::clone() const { return defined() ? of(shape_, values()) : Tensor(); }

void Tensor::fill(real value) { std::fill_n(data_, size(), value); }

Ids::Ids(const Shape& extents, std::vector<int32_t> given) : shape(extents), values(std::move(given)) {
  require(values.size() == shape.size(), "Ids: shape ", shape, " needs ", shape.size(), " values, got ", values.size());
}

}  // namespace attend
