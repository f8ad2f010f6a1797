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

namespace {

/// Part of a joined memory: the sources of one that are still read, and where its rows find them.
struct ReadSources {
  std::vector<int32_t> sources, source_of;
  int64_t longest = 0;
};

/// Tensors [B,Tk,·] of the sources of two memories as one [B',Tk',·]; what two names stand for is made once.
class JoinedSources {
 public:
  JoinedSources(const ReadSources& first, const ReadSources& second, int64_t keys)
      : first_(first), second_(second), keys_(keys) {}

  Var operator()(const Var& a, const Var& b) {
    for (const Made& one : made_) {
      if (one.a == a.value().data() && one.b == b.value().data()) return one.both;
    }
    const int64_t width = a.dim(2), count = static_cast<int64_t>(first_.sources.size() + second_.sources.size());
    Tensor both({count, keys_, width});
    real* to = both.data();
    for (const auto& [from, part] : {std::pair(&a, &first_), std::pair(&b, &second_)}) {
      const int64_t each = from->dim(1) * width, kept = std::min(each, keys_ * width);
      for (const int32_t source : part->sources) {
        std::copy_n(from->value().data() + source * each, kept, to);
        std::fill_n(to + kept, keys_ * width - kept, real{0});
        to += keys_ * width;
      }
    }
    return made_.emplace_back(Made{a.value().data(), b.value().data(), Var(both)}).both;
  }

 private:
  struct Made {
    const real *a, *b;
    Var both;
  };
  const ReadSources &first_, &second_;
  const int64_t keys_;
  std::vector<Made> made_;
};

/// `source_of`: by row; empty: row n reads source n of all.
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
      read.longest = std::max(read.longest, lengths.empty() ? keys : int64_t{lengths[source]});
    }
    read.source_of.push_back(place[source]);
  }
  return read;
}

}  // namespace

bool AttentionMemory::joins() const {
  const auto side_by_side = [&](const Var& x) {
    return x.rank() == 3 && x.dim(0) == sources_ && x.dim(1) == keys_count_;
  };
  return std::ranges::all_of(prepared_, side_by_side);
}

void AttentionMemory::join(const AttentionMemory& other) {
  require(joins() && other.joins() && prepared_.size() == other.prepared_.size(),
          "AttentionMemory::join: expected memories of one attention with keys side by side, got others");
  const ReadSources own = read_sources(source_of_, sources_, lengths_, keys_count_, 0);
  const ReadSources more = read_sources(other.source_of_, other.sources_, other.lengths_, other.keys_count_,
                                        static_cast<int32_t>(own.sources.size()));
  const int64_t keys = std::max(own.longest, more.longest);
  std::vector<int32_t> lengths;
  for (const auto& [memory, part] :
       {std::pair<const AttentionMemory*, const ReadSources*>(this, &own), {&other, &more}}) {
    for (const int32_t source : part->sources) {
      lengths.push_back(memory->lengths_.empty() ? static_cast<int32_t>(memory->keys_count_)
                                                 : memory->lengths_[static_cast<size_t>(source)]);
    }
  }
  const bool padded = std::ranges::any_of(lengths, [&](int32_t length) { return length < keys; });
  JoinedSources joined(own, more, keys);
  keys_ = joined(keys_, other.keys_), values_ = joined(values_, other.values_);
  for (size_t h = 0; h < prepared_.size(); ++h) {
    prepared_[h] = joined(prepared_[h], other.prepared_[h]);
    head_values_[h] = joined(head_values_[h], other.head_values_[h]);
  }
  source_of_ = own.source_of;
  source_of_.insert(source_of_.end(), more.source_of.begin(), more.source_of.end());
  sources_ = static_cast<int64_t>(lengths.size()), keys_count_ = keys;
  lengths_ = padded ? std::move(lengths) : std::vector<int32_t>();
  bool each = static_cast<int64_t>(source_of_.size()) == sources_;
  for (size_t n = 0; each && n < source_of_.size(); ++n) each = source_of_[n] == static_cast<int32_t>(n);
  if (each) source_of_.clear();
  index_.clear();
  expanded_.reset();
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
