// What attention reads from: keys and values that were prepared once, or that grow by one per step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "attend/autograd/var.h"

namespace attend {

/// Keys and values of B sources, prepared once (Attention::prepare).
class AttentionMemory {
 public:
  /// From now on row n reads the source that row rows[n] has read so far. Sources are copied only if necessary.
  void take(std::span<const int32_t> rows);
  int64_t rows() const { return source_of_.empty() ? sources_ : static_cast<int64_t>(source_of_.size()); }
  int64_t keys() const { return keys_count_; }
  /// Lengths by row; empty: all keys count.
  std::vector<int32_t> lengths() const;
  /// Appends the rows of another memory of the same attention. Its sources take the places of those that no row reads any more;
  /// where there is no room, all that are read are laid out anew, with some to spare, and keys() is the length of the longest.
  /// Throws Error where prepared keys do not lie side by side (joins()).
  void join(const AttentionMemory& other);
  bool joins() const;

 private:
  friend class Attention;
  bool fill_gaps(const AttentionMemory& other);
  std::vector<std::pair<Var*, const Var*>> paired_with(const AttentionMemory& other);

  int64_t sources_ = 0, keys_count_ = 0;
  bool has_gaps_ = false;                        // laid out by join(): some sources may be nobody's
  std::vector<int32_t> lengths_;                 // by source
  Var keys_, values_;                            // projected [B,Tk,·], for the fused kernels
  std::vector<Var> prepared_, head_values_;      // by head, for the composed stages
  std::vector<int32_t> source_of_;               // by row; empty: row n is source n
  mutable std::vector<int32_t> index_, counts_;  // of keys_' rows, for one query at a time; made when first needed
  mutable std::shared_ptr<const AttentionMemory> expanded_;  // one source per row, for the composed stages
};

/// Keys and values that grow by one per step, for N hypotheses: self-attention while decoding. Selecting hypotheses permutes an
/// index; appended rows move only where there is no room for more, and then those that no hypothesis reads are left behind.
class AttentionCache {
 public:
  void take(std::span<const int32_t> rows);
  /// Appends the rows of another cache of the same attention, where these have so many rows.
  void join(const AttentionCache& other, int64_t rows, int64_t other_rows);
  /// Number of keys of the longest hypothesis.
  int64_t steps() const;

 private:
  friend class Attention;
  void append(const Tensor& keys, const Tensor& values, std::span<const uint8_t> active);
  void make_room(int64_t more, int64_t key_width, int64_t value_width);
  Tensor keys_, values_;  // pools [capacity, ·]
  int64_t used_ = 0;
  std::vector<std::vector<int32_t>> index_;  // by row: where its steps lie in the pools
};

}  // namespace attend
