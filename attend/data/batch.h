// Batches of sequences of ids, padded to the longest.
#pragma once

#include <cstdint>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend::data {

/// Ids that every vocabulary reserves; words begin at kFirstWord.
constexpr int32_t kPad = 0, kUnknown = 1, kBegin = 2, kEnd = 3, kFirstWord = 4;

/// [B,T] ↔ [T,B].
Ids transposed(const Ids& ids);

/// B sequences: ids [B,T] with kPad beyond each one's length. Or B images, each of which stands as one word: a model that
/// looks at images reads those and no ids.
struct Sequences {
  Ids ids;
  std::vector<int32_t> lengths;
  Tensor images = {};  ///< [B,C,H,W]; undefined where the sequences are text

  Sequences() = default;
  /// Pads to the longest. Empty sequences are allowed; T is at least 1.
  explicit Sequences(const std::vector<std::vector<int32_t>>& rows);
  /// images [B,C,H,W].
  static Sequences of_images(Tensor images);

  int64_t count() const { return ids.shape[0]; }
  int64_t longest() const { return ids.shape[1]; }
  std::vector<int32_t> row(int64_t b) const;
  /// Time-major [T,B], as recurrent layers read them.
  Ids by_time() const { return transposed(ids); }
};

/// What a model learns from: target[b] answers source[b]. Targets carry neither kBegin nor kEnd; models add them.
/// A label is a target of one id, tags are a target as long as the source.
struct Batch {
  Sequences source, target;
  /// For each pair the one place of its target (its length: the end) whose prediction counts in the loss; empty: all count.
  std::vector<int32_t> only = {};
  /// For each target the source that it answers, where several answer the same one (captions of an image, which is then
  /// read once for all of them); empty: target[b] answers source[b].
  std::vector<int32_t> image_of = {};
};

/// Throws Error unless every target has a source: as many as there are, or image_of within them.
void require_sources(const char* where, const Batch& batch);

/// Targets that count: one per token, and the end of each sentence.
int64_t target_tokens(const Batch& batch);

/// What a decoder reads and what it has to say, [B,T+1]: kBegin before the target; kEnd after it, then `ignored`.
Ids decoder_inputs(const Sequences& target);
Ids decoder_targets(const Sequences& target, int32_t ignored = -1);
/// Of a batch: −1 also where `only` says that a place does not count.
Ids decoder_targets(const Batch& batch);
/// −1 in all of `targets` [B,T] but the places that count.
void count_only(const Batch& batch, Ids& targets);

}  // namespace attend::data
