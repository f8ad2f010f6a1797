#include "attend/attention/memory.h"

#include <algorithm>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"

namespace attend {

void AttentionMemory::take(std::span<const int32_t> rows) {
  std::vector<int32_t> sources;
  for (const int32_t row : rows) {
    require(row >= 0 && row < this->rows(), "AttentionMemory::take: expected rows in [0, ", this->rows(), "), got ",
            row);
    sources.push_back(source_of_.empty() ? row : source_of_[static_cast<size_t>(row)]);
  }
  if (!sources.empty() && sources == source_of_) return;  // hypotheses of one sentence changed places
  index_.clear();
  expanded_.reset();
  if (sources.empty()) {  // no rows are left; an empty source_of_ would mean all
    for (Var* one : {&keys_, &values_}) *one = take_rows(*one, sources);
    for (auto* heads : {&prepared_, &head_values_}) {
      for (Var& one : *heads) one = take_rows(one, sources);
    }
    sources_ = 0;
    lengths_.clear();
  }
  source_of_ = std::move(sources);
}

std::vector<int32_t> AttentionMemory::lengths() const {
  if (source_of_.empty() || lengths_.empty()) return lengths_;
  std::vector<int32_t> all;
  for (const int32_t source : source_of_) all.push_back(lengths_[static_cast<size_t>(source)]);
  return all;
}

int64_t AttentionCache::steps() const {
  size_t most = 0;
  for (const auto& row : index_) most = std::max(most, row.size());
  return static_cast<int64_t>(most);
}

void AttentionCache::append(const Tensor& keys, const Tensor& values, std::span<const uint8_t> active) {
  const int64_t N = keys.dim(0), K = keys.dim(-1), V = values.dim(-1);
  if (index_.empty()) index_.resize(static_cast<size_t>(N));
  require(static_cast<size_t>(N) == index_.size() && (active.empty() || active.size() == index_.size()),
          "AttentionCache: expected ", index_.size(), " rows, got ", N);
  const int64_t room = keys_.defined() ? keys_.dim(0) : 0;
  if (used_ + N > room || !keys_.unique() || !values_.unique()) {  // a copy of this cache appends elsewhere
    const int64_t rows = used_ + N > room ? std::max(2 * room, 16 * N) : room;
    Tensor more_keys({rows, K}), more_values({rows, V});
    if (room > 0) {
      std::copy_n(keys_.data(), used_ * K, more_keys.data());
      std::copy_n(values_.data(), used_ * V, more_values.data());
    }
    keys_ = more_keys, values_ = more_values;
  }
  std::copy_n(keys.data(), N * K, keys_.data() + used_ * K);
  std::copy_n(values.data(), N * V, values_.data() + used_ * V);
  for (size_t n = 0; n < index_.size(); ++n) {
    if (active.empty() || active[n]) index_[n].push_back(static_cast<int32_t>(used_) + static_cast<int32_t>(n));
  }
  used_ += N;
}

void AttentionCache::take(std::span<const int32_t> rows) {
  if (index_.empty()) return;
  std::vector<std::vector<int32_t>> taken;
  for (const int32_t row : rows) {
    require(row >= 0 && static_cast<size_t>(row) < index_.size(), "AttentionCache::take: expected rows in [0, ",
            index_.size(), "), got ", row);
    taken.push_back(index_[static_cast<size_t>(row)]);
  }
  index_ = std::move(taken);
}

}  // namespace attend
