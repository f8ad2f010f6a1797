// Small things that the networks share: rows of a batch, and checks of what comes in.
#pragma once

#include <span>
#include <vector>

#include "attend/autograd/ops/shape.h"
#include "attend/data/batch.h"
#include "attend/models/model.h"

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
/// Refuses a batch whose targets are not as many as its sources, one for each.
void require_same_count(const char* where, const data::Batch& batch);

/// Refuses scheduled sampling, for networks whose decoder reads no words of its own.
void refuse_own_words(const char* where, const Training* training);

/// Scheduled sampling in two passes (Mihaylova & Martins 2019; Duckworth et al. 2019): `inputs` in which a `share` of the
/// words is what the logits [..,V] of a first pass say in their place. The position before i is i − `before`: 1 for
/// [B,T], B for [T,B]. kBegin and kPad stay.
Ids with_own_words(const Ids& inputs, const Tensor& logits, size_t before, double share, Random& random);

}  // namespace attend::models
