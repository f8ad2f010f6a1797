// Small things that the networks share: rows of a batch, and checks of what comes in.
#pragma once

#include <span>
#include <vector>

#include "attend/autograd/ops/shape.h"
#include "attend/data/batch.h"

namespace attend::models {

template <class T>
std::vector<T> taken(const std::vector<T>& from, std::span<const int32_t> rows) {
  std::vector<T> all;
  all.reserve(rows.size());
  for (const int32_t row : rows) all.push_back(from[static_cast<size_t>(row)]);
  return all;
}

/// `size`, refused unless it is at least 1.
int64_t require_size(const char* what, int64_t size);
/// Refuses a batch with an empty source: there is nothing to encode.
void require_not_empty(const char* where, const data::Sequences& source);
/// Refuses a batch whose targets are not as many as its sources.
void require_same_count(const char* where, const data::Batch& batch);

}  // namespace attend::models
