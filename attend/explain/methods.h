// Methods: how much each token of an answer leant on each token of the source. Attention says where a network looked;
// gradients and occlusion say what its answer hung on, for networks without attention as well.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/explain/trace.h"
#include "attend/models/model.h"

namespace attend::explain {

/// A source and its answer (without kBegin and kEnd), and what was observed of it.
struct Answered {
  const models::Model& model;
  std::vector<int32_t> source, target;
  std::vector<TraceSite> sites;
  std::vector<double> log_probabilities;  ///< of each target token, and of the end where the model says it
  std::function<void()> check = {};       ///< called between the passes of a method; what it throws ends it

  void checked() const {
    if (check) check();
  }
  /// Predictions: one per token, and the end.
  int64_t steps() const { return static_cast<int64_t>(log_probabilities.size()); }
};

/// Which part of attention, of what the trace has.
struct AttentionPart {
  std::string site = "decoder.memory";  ///< or any other of Answered::sites
  int64_t layer = -1, head = -1;        ///< −1: all
  std::string combine = "mean";         ///< of several: "mean" or "max"
};

/// A map [steps, source tokens].
using Method = Tensor (*)(const Answered& answered, const AttentionPart& part);

struct MethodRow {
  std::string_view name, formula, paper;
  bool is_signed;  ///< below 0: the token spoke against the word
  bool needs_attention;
  bool adds;  ///< over a target word's tokens values are added, else averaged
  Method map;
};
std::span<const MethodRow> methods();
const MethodRow& method_named(std::string_view name);

/// Refuses a part that these sites, with or without weights, do not have, with those that they have.
void check_part(const std::vector<TraceSite>& sites, const AttentionPart& part);
/// The part of attention as a map [queries, keys], and in words what it is: "mean of 2 layers × 4 heads", "" where there is
/// one alone. Refuses what check_part refuses. Of an attention over source and past, the source's part.
Tensor attention_map(const Answered& answered, const AttentionPart& part);
std::string part_label(const Answered& answered, const AttentionPart& part);

/// ln p of each step when the source is changed to each of `sources`, [sources, steps].
Tensor rescored(const Answered& answered, const std::vector<std::vector<int32_t>>& sources);

}  // namespace attend::explain
