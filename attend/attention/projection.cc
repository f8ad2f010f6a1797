#include "attend/attention/projection.h"

#include "attend/base/names.h"

namespace attend {
namespace {

constexpr ProjectionRow kProjections[] = {{"none", "x"}, {"linear", "Wx + b"}, {"mlp", "W₂·tanh(W₁x + b₁) + b₂"}};

}  // namespace

std::span<const ProjectionRow> projections() { return kProjections; }

Projection::Projection(std::string_view kind, int64_t in, int64_t out, Random& random) : size_(out) {
  row_named("projection", kProjections, kind);
  if (kind == "none") size_ = in;
  if (kind == "mlp") layers_.emplace_back(in, out, random, true, Activation::tanh);
  if (kind != "none") layers_.emplace_back(kind == "mlp" ? out : in, out, random);
}

Var Projection::operator()(const Var& x) const {
  Var y = x;
  for (const nn::Linear& layer : layers_) y = layer(y);
  return y;
}

void Projection::params(const nn::VisitParams& visit) {
  for (size_t i = 0; i < layers_.size(); ++i) visit_part(visit, std::to_string(i), layers_[i]);
}

}  // namespace attend
