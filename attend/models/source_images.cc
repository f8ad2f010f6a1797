#include "attend/models/source_images.h"

#include <utility>

#include "attend/base/error.h"

namespace attend::models {
namespace {
thread_local SourceImages* current_images = nullptr;
}

SourceImages::SourceImages(Look look) : look_(look), outer_(std::exchange(current_images, this)) {}
SourceImages::~SourceImages() { current_images = outer_; }

Var SourceImages::seen(Var x, Look look) {
  if (!current_images || current_images->look_ != look) return x;
  current_images->probe_ = Var::probe(x.value());
  return current_images->probe_;
}

const Tensor& SourceImages::value() const {
  require(probe_.defined(), "SourceImages: expected a network that ",
          look_ == Look::grid ? "has a grid" : "reads images", "; this one has shown none" );
  return probe_.value();
}

Tensor SourceImages::gradient() const {
  const Tensor& read = value();
  return probe_.gradient().defined() ? probe_.gradient() : Tensor::zeros(read.shape());
}

}  // namespace attend::models
