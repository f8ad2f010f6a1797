// Methods: how much each token of an answer depended on each token of the source. Attention says where a network
// looked; gradients and occlusion say what its answer depended on, for networks without attention as well.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/decode/hypothesis.h"
#include "attend/explain/trace.h"
#include "attend/models/model.h"

namespace attend::explain {

/// A source and its answer (without kBegin and kEnd), and what was observed.
struct Answered {
  static constexpr int64_t kPassTokens = 2048;

  const models::Model& model;
  std::vector<int32_t> source, target;
  std::vector<TraceSite> sites;
  std::vector<double> log_probabilities;  ///< of each target token, and of the end if the model predicts it
  std::function<void()> check = {};       ///< called between the passes of a method; may throw to end it
  std::vector<std::vector<int32_t>> letters = {};  ///< of each source token, if the model looks inside words
  data::Source whole = {};  ///< if there is more than one text: all that was read, the source first; of a sound its frames
  int64_t pass_tokens = kPassTokens;  ///< that are read in one pass of a method, between two checks
  int64_t most_tokens = 0;     ///< that a method may read in all its passes (TooLarge); 0: any

  void checked() const {
    if (check) check();
  }
  /// Whether the answer is told by places of the source.
  bool points() const { return model.vocabulary() == 0; }
  /// Whether the answer still fits the source when a word is left out of it: not if there is one label per word.
  bool may_lose_words() const {
    const int64_t length = static_cast<int64_t>(source.size());
    return model.answer_length(length) == model.answer_length(length + 1);
  }
  /// Throws TooLarge if source and target may not be read so many times.
  void require_passes(size_t count) const;
  /// decode::score that can be ended after each step. ln p of a token is at least −30, also where it could only be copied from a
  /// place that was left out.
  std::vector<decode::Hypothesis> scored(const data::Batch& batch) const;
  /// The source, `copies` times.
  data::Source sources(size_t copies = 1) const;
  /// The source with only these of its places kept; if none is, an unknown word. An answer that is told by places of the source needs
  /// them all: the others are then hidden, as unknown words.
  data::Source sources(const std::vector<std::vector<int32_t>>& kept) const;
  /// Of a sound: how many frames a place of the source stands for, which then has no words; else 1.
  int64_t frames_of_place() const;
  /// Predictions: one per token, and the end.
  int64_t steps() const { return static_cast<int64_t>(log_probabilities.size()); }

 private:
  data::Source sounds(const std::vector<std::vector<int32_t>>& kept) const;
};

/// Which part of the attention in a trace.
struct AttentionPart {
  std::string site = "decoder.memory";  ///< or any other of Answered::sites
  int64_t layer = -1, head = -1;        ///< −1: all
  std::string combine = "mean";         ///< of several: "mean" or "max"
};

/// A map [steps, source tokens].
using Method = Tensor (*)(const Answered& answered, const AttentionPart& part);

struct MethodRow {
  std::string_view name, formula, paper;
  bool is_signed;  ///< negative: the token spoke against the word
  bool needs_attention;
  bool adds;  ///< values of a target word's tokens are added, otherwise averaged
  Method map;
};
std::span<const MethodRow> methods();
const MethodRow& method_named(std::string_view name);

/// Throws Error for a part that these sites, with or without weights, do not have, listing those they have.
void check_part(const std::vector<TraceSite>& sites, const AttentionPart& part);
/// The part of attention as a map [queries, keys], and a description of it: "mean of 2 layers × 4 heads", "" if there
/// is only one. Throws as check_part does. For an attention over source and past, the source's part.
Tensor attention_map(const Answered& answered, const AttentionPart& part);
std::string part_label(const Answered& answered, const AttentionPart& part);

/// ln p of each step when only these places of the source are kept, for each way of keeping.
std::vector<std::vector<double>> rescored(const Answered& answered, const std::vector<std::vector<int32_t>>& kept);

}  // namespace attend::explain
