// Small things that the networks share: rows of a batch, and checks of their input.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attend/autograd/ops/shape.h"
#include "attend/data/batch.h"
#include "attend/models/model.h"
#include "attend/nn/layers.h"

namespace attend::models {

template <class T>
std::vector<T> taken(const std::vector<T>& from, std::span<const int32_t> rows) {
  std::vector<T> all;
  all.reserve(rows.size());
  for (const int32_t row : rows) all.push_back(from[static_cast<size_t>(row)]);
  return all;
}

/// The rows of `a`, then those of `b`, outside training: [N,·] and [M,·] → [N+M,·]. Where one is undefined, so many rows of zeros
/// stand for it; undefined where both are. `width`: of the rows from now on, cut or filled up with zeros; 0: as it is.
Var joined_rows(const Var& a, int64_t rows_a, const Var& b, int64_t rows_b, int64_t width = 0);

/// What training draws from; null outside training.
inline Random* random_of(Training* training) { return training ? &training->random : nullptr; }

/// `size`; throws Error unless it is at least 1.
int64_t require_size(const char* what, int64_t size);
/// Rejects a value of `option` that is not one of the known ones, suggesting the nearest.
void require_one_of(const char* option, std::initializer_list<std::string_view> known, std::string_view value);
/// What tells places apart: "none", "sinusoidal", or "learned" for the first `longest` places.
std::optional<nn::Positions> positions_of(std::string_view kind, int64_t longest, int64_t size, Random& random);
/// Rejects a batch with an empty source, in which there is nothing to encode.
void require_not_empty(const char* where, const data::Source& source);
/// Rejects a batch that does not have exactly one target per source.
void require_same_count(const char* where, const data::Batch& batch);

/// Rejects scheduled sampling, for networks whose decoder does not read its own words.
void refuse_own_words(const char* where, const Training* training);

/// Scheduled sampling in two passes (Mihaylova & Martins 2019; Duckworth et al. 2019): `inputs` in which a `share` of the
/// words is replaced with what the logits [..,V] of a first pass predict. The position before i is i − `before`: 1 for
/// [B,T], B for [T,B]. kBegin and kPad stay.
Ids with_own_words(const Ids& inputs, const Tensor& logits, size_t before, double share, Random& random);

}  // namespace attend::models
