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
  std::vector<std::vector<int32_t>> letters = {};  ///< of each source token, where the model looks inside words

  void checked() const {
    if (check) check();
  }
  /// Whether a word may be left out of the source and the answer still fit it: not where there is one label per word.
  bool may_lose_words() const {
    const int64_t length = static_cast<int64_t>(source.size());
    return model.answer_length(length) == model.answer_length(length + 1);
  }
  /// The source, so many times.
  data::Source sources(size_t copies = 1) const;
  /// What is left of it where only these of its places are kept; of none, an unknown word.
  data::Source sources(const std::vector<std::vector<int32_t>>& kept) const;
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

/// ln p of each step when only these places of the source are kept, [ways of keeping, steps].
Tensor rescored(const Answered& answered, const std::vector<std::vector<int32_t>>& kept);

}  // namespace attend::explain
