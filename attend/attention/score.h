// Score: how well a query matches a key. queries [B,Tq,Q], keys [B,Tk,K] → energies [B,Tq,Tk].
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/attention/step.h"
#include "attend/nn/layer.h"

namespace attend {

/// Sizes that a score may need; each reads only its own.
struct ScoreOptions {
  int64_t query = 0, key = 0;  // widths Q and K
  int64_t hidden = 0;          // width of the layer inside additive and concat; 0: as the query
  int64_t longest = 0;         // location: the largest possible number of keys
  int64_t radius = 8;          // convolution: relative positions beyond it share the weight at its edge
  int64_t filters = 10;        // location_aware: number of filters over the previous weights
  int64_t reach = 16;          // location_aware: each sees so far to each side
  bool coverage = false;       // the score also sees how much each key has been read (Step::coverage)
};

class Score {
 public:
  virtual ~Score() = default;
  /// What the score needs of the keys, computed once per source: [B,Tk,K] → [B,Tk,…].
  virtual Var prepare(const Var& keys) const { return keys; }
  /// Energies [B,Tq,Tk] from queries [B,Tq,Q] and prepared keys.
  virtual Var operator()(const Var& queries, const Var& prepared, const AttentionStep& step) const = 0;
  virtual void params(const nn::VisitParams&) {}
};

struct ScoreRow {
  std::string_view name, formula, paper;
  std::unique_ptr<Score> (*make)(const ScoreOptions& options, Random& random);
  bool takes_coverage = false;  // inside its formula; to the others it is added as γ·coverage
  bool fused = false;           // c·qᵀk: the fused attention kernels support it
  bool equal_widths = false;    // of query and key
  bool by_place = false;        // it looks at the query's place: queries of a call stand one after the other
  bool previous = false;        // it looks at the weights of the step before (AttentionStep): one query at a time
};

/// The menu of scores: help, option checks, documents and tests iterate over it.
std::span<const ScoreRow> scores();
/// Adds a row from outside the library (examples/extend). Must not be called while other threads use the menu. Rejects
/// a name that is taken.
void add_score(const ScoreRow& row);
const ScoreRow& score_named(std::string_view name);

}  // namespace attend
