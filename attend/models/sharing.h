// Several answers to one source read it as queries to one memory: it is encoded once, and its keys are stored once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/attention/attention.h"

namespace attend::models {

/// Rows that read the same source occupy neighbouring slots [sources · each], some of which are empty if sources have
/// different numbers of rows.
class Sharing {
 public:
  /// Row n reads source source_of[n].
  Sharing(int64_t sources, std::span<const int32_t> source_of);

  /// [N,W] → [sources,each,W], or [N,T,W] → [sources,each·T,W].
  Var to_slots(const Var& rows) const;
  /// [sources,each,W] → [N,W].
  Var to_rows(const Var& slots) const;
  /// [sources,each·T,W] → [N,T,W].
  Var to_sequences(const Var& slots) const;

  /// True if the rows of one source may be queries of one call: nothing in it depends on a query's position.
  static bool fits(const AttentionConfig& config);

 private:
  int64_t sources_, each_ = 0;
  std::vector<int32_t> row_in_;   // of each slot; row 0 in empty ones
  std::vector<int32_t> slot_of_;  // of each row
  bool in_order_ = true;          // row n is slot n: nothing needs to be moved
};

}  // namespace attend::models
