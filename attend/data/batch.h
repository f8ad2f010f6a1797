// Batches: what networks read (named parts: ids, pixels, frames) and what they should answer (ids).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend::data {

/// Ids that every vocabulary reserves; words begin at kFirstWord.
constexpr int32_t kPad = 0, kUnknown = 1, kBegin = 2, kEnd = 3, kFirstWord = 4;

/// [B,T] ↔ [T,B].
Ids transposed(const Ids& ids);

/// B sequences: ids [B,T] with kPad beyond each one's length.
struct Sequences {
  Ids ids;
  std::vector<int32_t> lengths;

  Sequences() = default;
  /// Pads to the longest. Empty sequences are allowed; T is at least 1.
  explicit Sequences(const std::vector<std::vector<int32_t>>& rows);

  int64_t count() const { return ids.shape[0]; }
  int64_t longest() const { return ids.shape[1]; }
  std::vector<int32_t> row(int64_t b) const;
  /// Time-major [T,B], as recurrent layers read them.
  Ids by_time() const { return transposed(ids); }
};

/// One part of what a network reads: ids or, where `values` is defined, numbers.
struct Part {
  std::string name;  ///< of the task's input: "text", "image"; what lies inside it follows a dot: "text.letters"
  Sequences ids;     ///< [B,T]; of letters [B·T,L], where row b·T + t spells word t of example b
  Tensor values;     ///< pixels [B,C,H,W] or frames [B,T,F]
};

/// What a network reads of B examples: parts by name. The first one is what its answers attend to.
class Source {
 public:
  static constexpr std::string_view kText = "text", kImage = "image", kLetters = ".letters";

  Source() = default;
  /// A text alone. Implicit, as most networks read just that.
  Source(Sequences text);  // NOLINT(google-explicit-constructor)
  /// Pixels [B,C,H,W] alone.
  static Source of_images(Tensor pixels);

  /// Further parts; each has as many examples as the first.
  Source& add(std::string name, Sequences ids);
  Source& add(std::string name, Tensor values);
  /// The letters of the words of the first part.
  Source& add_letters(Sequences letters);

  const std::vector<Part>& parts() const { return parts_; }
  /// The part of that name; null where there is none.
  const Part* find(std::string_view name) const;
  bool empty() const { return parts_.empty(); }
  int64_t count() const;
  /// Ids of the first part. Throws Error where it has none, as an image.
  const Sequences& text() const;
  /// Letters of the first part; null where there are none.
  const Sequences* letters() const;
  /// Pixels of the first part; an undefined tensor where it has none.
  const Tensor& pixels() const;
  /// How many places each example of the first part has: tokens; an image counts as one.
  const std::vector<int32_t>& lengths() const { return lengths_; }

 private:
  std::vector<Part> parts_;
  std::vector<int32_t> lengths_;
};

/// What a model learns from: target[b] answers source[b]. Targets carry neither kBegin nor kEnd; models add them.
/// A label is a target of one id, tags are a target as long as the source.
struct Batch {
  Source source;
  Sequences target;
  /// For each pair the one place of its target (its length: the end) whose prediction counts in the loss; empty: all count.
  std::vector<int32_t> only = {};
  /// For each target the source that it answers, where several answer the same one (captions of an image, which is then
  /// read once for all of them); empty: target[b] answers source[b].
  std::vector<int32_t> source_of = {};
};

/// Letters by example and word as the rows of a part: row b·longest + t spells word t of example b; none beyond its words.
Sequences letter_rows(std::span<const std::vector<std::vector<int32_t>>> examples, int64_t longest);

/// Throws Error unless every target has a source: as many as there are, or source_of within them.
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
