// What queries, keys and values may pass through before they are compared.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attend/nn/layers.h"

namespace attend {

struct ProjectionRow {
  std::string_view name, formula;
};
std::span<const ProjectionRow> projections();

/// Nothing, Wx + b, or W₂·tanh(W₁x + b₁) + b₂.
class Projection {
 public:
  Projection(std::string_view kind, int64_t in, int64_t out, Random& random);
  Var operator()(const Var& x) const;
  int64_t size() const { return size_; }
  void params(const nn::VisitParams& visit);

 private:
  std::vector<nn::Linear> layers_;
  int64_t size_;
};

}  // namespace attend
