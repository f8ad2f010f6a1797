// What tests of models share.
#pragma once

#include <vector>

#include "attend/base/options.h"
#include "attend/data/batch.h"
#include "attend/models/model.h"

namespace attend::models {

/// How far two ways of computing the same may be apart.
constexpr double kTolerance = sizeof(real) == 8 ? 1e-9 : 1e-5;

/// Those of `b` win.
inline Settings operator+(Settings a, const Settings& b) {
  for (const auto& [name, value] : b) a[name] = value;
  return a;
}

inline data::Sequences rows(const std::vector<std::vector<int32_t>>& ids) { return data::Sequences(ids); }

inline double loss_of(const Model& model, const data::Batch& batch) {
  return static_cast<double>(model.loss(batch).item());
}

}  // namespace attend::models
