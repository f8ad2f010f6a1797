#include "attend/attention/memory.h"

#include <algorithm>
#include <utility>

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
    sources_ = 0, has_gaps_ = false;
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

namespace {

// Sources that a joined memory has room for beyond those that it needs now: a half more, and these.
constexpr int64_t kSpareSources = 8;

/// The sources of a memory that are still read, and where its rows find them among these.
struct ReadSources {
  std::vector<int32_t> sources, source_of;
  std::vector<int32_t> lengths;
  int64_t longest = 0;
};

/// `source_of`: by row; empty: row n reads source n of all. The first of them will be source `first`.
ReadSources read_sources(const std::vector<int32_t>& source_of, int64_t sources, std::span<const int32_t> lengths,
                         int64_t keys, int32_t first) {
  ReadSources read;
  std::vector<int32_t> place(static_cast<size_t>(sources), -1);
  const size_t rows = source_of.empty() ? static_cast<size_t>(sources) : source_of.size();
  for (size_t n = 0; n < rows; ++n) {
    const size_t source = source_of.empty() ? n : static_cast<size_t>(source_of[n]);
    if (place[source] < 0) {
      place[source] = first + static_cast<int32_t>(read.sources.size());
      read.sources.push_back(static_cast<int32_t>(source));
      read.lengths.push_back(lengths.empty() ? static_cast<int32_t>(keys) : lengths[source]);
      read.longest = std::max(read.longest, int64_t{read.lengths.back()});
    }
    read.source_of.push_back(place[source]);
  }
  return read;
}

/// Source `source` of [B,Tk,W] to [keys,W], cut or filled up with zeros: weights of 0 read those, too.
void copy_source(const Tensor& from, int32_t source, int64_t keys, real* to) {
  const int64_t width = from.dim(2), each = from.dim(1) * width, kept = std::min(each, keys * width);
  std::copy_n(from.data() + source * each, kept, to);
  std::fill_n(to + kept, keys * width - kept, real{0});
}

}  // namespace

bool AttentionMemory::joins() const {
  const auto side_by_side = [&](const Var& x) {
    return x.rank() == 3 && x.dim(0) == sources_ && x.dim(1) == keys_count_;
  };
  return std::ranges::all_of(prepared_, side_by_side);
}

/// Its tensors with those of the other; what two names stand for is there once.
std::vector<std::pair<Var*, const Var*>> AttentionMemory::paired_with(const AttentionMemory& other) {
  std::vector<std::pair<Var*, const Var*>> pairs{{&keys_, &other.keys_}, {&values_, &other.values_}};
  for (size_t h = 0; h < prepared_.size(); ++h) {
    pairs.emplace_back(&prepared_[h], &other.prepared_[h]);
    pairs.emplace_back(&head_values_[h], &other.head_values_[h]);
  }
  return pairs;
}

bool AttentionMemory::fill_gaps(const AttentionMemory& other) {
  if (!has_gaps_) return false;
  std::vector<bool> is_read(static_cast<size_t>(sources_), false);
  int64_t longest = 0;
  for (const int32_t source : source_of_) {
    is_read[static_cast<size_t>(source)] = true;
    longest = std::max(longest, int64_t{lengths_[static_cast<size_t>(source)]});
  }
  std::vector<int32_t> gaps;
  for (size_t source = 0; source < is_read.size(); ++source) {
    if (!is_read[source]) gaps.push_back(static_cast<int32_t>(source));
  }
  const ReadSources more = read_sources(other.source_of_, other.sources_, other.lengths_, other.keys_count_, 0);
  longest = std::max(longest, more.longest);
  const bool wastes = keys_count_ > 2 * longest + kSpareSources;  // the longest one is gone
  if (wastes || longest > keys_count_ || gaps.size() < more.sources.size()) return false;
  std::vector<const real*> filled;
  for (const auto& [own, others] : paired_with(other)) {
    Tensor& to = own->value();
    if (std::ranges::find(filled, to.data()) != filled.end()) continue;
    filled.push_back(to.data());
    const int64_t each = keys_count_ * to.dim(2);
    for (size_t i = 0; i < more.sources.size(); ++i) {
      copy_source(others->value(), more.sources[i], keys_count_, to.data() + gaps[i] * each);
    }
  }
  for (size_t i = 0; i < more.sources.size(); ++i) lengths_[static_cast<size_t>(gaps[i])] = more.lengths[i];
  for (const int32_t source : more.source_of) source_of_.push_back(gaps[static_cast<size_t>(source)]);
  return true;
}

void AttentionMemory::join(const AttentionMemory& other) {
  require(joins() && other.joins() && prepared_.size() == other.prepared_.size(),
          "AttentionMemory::join: expected memories of one attention with keys side by side, got others");
  index_.clear();
  expanded_.reset();
  if (fill_gaps(other)) return;
  const ReadSources own = read_sources(source_of_, sources_, lengths_, keys_count_, 0);
  const ReadSources more = read_sources(other.source_of_, other.sources_, other.lengths_, other.keys_count_,
                                        static_cast<int32_t>(own.sources.size()));
  const int64_t count = static_cast<int64_t>(own.sources.size() + more.sources.size());
  const int64_t room = count + count / 2 + kSpareSources, keys = std::max(own.longest, more.longest);
  std::vector<std::pair<const real*, Var>> made;  // by what it was before
  for (const auto& [mine, others] : paired_with(other)) {
    const real* before = mine->value().data();
    const auto same = std::ranges::find(made, before, &std::pair<const real*, Var>::first);
    if (same != made.end()) {
      *mine = same->second;
      continue;
    }
    const int64_t each = keys * mine->dim(2);
    Tensor both({room, keys, mine->dim(2)});
    real* to = both.data();
    for (const int32_t source : own.sources) copy_source(mine->value(), source, keys, std::exchange(to, to + each));
    for (const int32_t source : more.sources) copy_source(others->value(), source, keys, std::exchange(to, to + each));
    std::fill(to, both.data() + room * each, real{0});
    made.emplace_back(before, Var(both));
    *mine = made.back().second;
  }
  source_of_ = own.source_of;
  source_of_.insert(source_of_.end(), more.source_of.begin(), more.source_of.end());
  lengths_ = own.lengths;
  lengths_.insert(lengths_.end(), more.lengths.begin(), more.lengths.end());
  lengths_.resize(static_cast<size_t>(room), 0);
  sources_ = room, keys_count_ = keys, has_gaps_ = true;
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
  make_room(N, K, V);
  std::copy_n(keys.data(), N * K, keys_.data() + used_ * K);
  std::copy_n(values.data(), N * V, values_.data() + used_ * V);
  for (size_t n = 0; n < index_.size(); ++n) {
    if (active.empty() || active[n]) index_[n].push_back(static_cast<int32_t>(used_) + static_cast<int32_t>(n));
  }
  used_ += N;
}

/// A copy of this cache appends elsewhere. Where the pools are full, they are made anew of what is still read.
void AttentionCache::make_room(int64_t more, int64_t key_width, int64_t value_width) {
  const int64_t room = keys_.defined() ? keys_.dim(0) : 0;
  if (used_ + more <= room && keys_.unique() && values_.unique()) return;
  std::vector<int32_t> place(static_cast<size_t>(used_), -1), kept;
  for (auto& row : index_) {
    for (int32_t& at : row) {
      int32_t& to = place[static_cast<size_t>(at)];
      if (to < 0) to = static_cast<int32_t>(kept.size()), kept.push_back(at);
      at = to;
    }
  }
  used_ = static_cast<int64_t>(kept.size());
  const int64_t rows = std::max(2 * used_ + more, 16 * more);
  Tensor keys({rows, key_width}), values({rows, value_width});
  for (size_t i = 0; i < kept.size(); ++i) {
    const int64_t to = static_cast<int64_t>(i);
    std::copy_n(keys_.data() + kept[i] * key_width, key_width, keys.data() + to * key_width);
    std::copy_n(values_.data() + kept[i] * value_width, value_width, values.data() + to * value_width);
  }
  keys_ = std::move(keys), values_ = std::move(values);
}

void AttentionCache::join(const AttentionCache& other, int64_t rows, int64_t other_rows) {
  if (index_.empty()) index_.resize(static_cast<size_t>(rows));
  if (other.index_.empty()) {
    index_.resize(index_.size() + static_cast<size_t>(other_rows));
    return;
  }
  require(static_cast<int64_t>(index_.size()) == rows && static_cast<int64_t>(other.index_.size()) == other_rows,
          "AttentionCache::join: expected ", rows, " and ", other_rows, " rows, got ", index_.size(), " and ",
          other.index_.size());
  const int64_t K = other.keys_.dim(1), V = other.values_.dim(1);
  make_room(other.used_, K, V);
  std::copy_n(other.keys_.data(), other.used_ * K, keys_.data() + used_ * K);
  std::copy_n(other.values_.data(), other.used_ * V, values_.data() + used_ * V);
  for (const auto& row : other.index_) {
    index_.push_back(row);
    for (int32_t& at : index_.back()) at += static_cast<int32_t>(used_);
  }
  used_ += other.used_;
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
