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

/// Ids that every vocabulary reserves; words start at kFirstWord.
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

/// One part of what a network reads: ids, or numbers if `values` is defined.
struct Part {
  std::string name;  ///< of the task's input: "text", "image"; for what it contains, a dot and a name: "text.letters"
  Sequences ids;     ///< [B,T]; of letters [B·T,L], where row b·T + t spells word t of example b; of frames only their lengths
  Tensor values;     ///< pixels [B,C,H,W] or frames [B,T,F]

  static constexpr std::string_view kLetters = ".letters", kCopies = ".copies", kGiven = ".given";
  bool is_letters() const { return name.ends_with(kLetters); }
  bool is_given() const { return name.ends_with(kGiven); }
};

/// What a network reads for B examples: named parts. Its answers attend to the first one.
class Source {
 public:
  static constexpr std::string_view kText = "text", kImage = "image", kSound = "sound", kSentences = ".sentence";

  Source() = default;
  /// A text alone. Implicit, as most networks read just that.
  Source(Sequences text);  // NOLINT(google-explicit-constructor)
  /// Pixels [B,C,H,W] alone.
  static Source of_images(Tensor pixels);
  /// Frames of sound [B,T,F] alone, of which the first lengths[b] count.
  static Source of_frames(Tensor frames, std::vector<int32_t> lengths);

  /// Further parts; each has as many examples as the first.
  Source& add(std::string name, Sequences ids);
  Source& add(std::string name, Tensor values);
  Source& add(std::string name, Tensor frames, std::vector<int32_t> lengths);
  /// The letters of the words of a part; by default the first one.
  Source& add_letters(Sequences letters, std::string_view of = {});
  /// What copying each place of the first part says: an id of the answers' vocabulary, or beyond its last one for words
  /// outside it, which each source numbers by itself.
  Source& add_copies(Sequences copies);
  /// Where the answer looks in place of where attention would: links as ids, a place of the first part and one of the answer
  /// in turn. The weight of a token is shared equally among the places that it is linked to; other steps look at nothing.
  Source& add_given(Sequences links);
  /// The same as weights [B,T,S] of the first T steps, S the places of the first part. What is −1 throughout is not given, and
  /// later steps are not: attention computes these.
  Source& add_given(Tensor weights);

  const std::vector<Part>& parts() const { return parts_; }
  /// The part of that name; null if there is none.
  const Part* find(std::string_view name) const;
  bool empty() const { return parts_.empty(); }
  int64_t count() const;
  /// Ids of the first part. Throws Error if it has none, as for an image.
  const Sequences& text() const;
  /// Letters of the words of a part, by default the first one; null if there are none.
  const Sequences* letters(std::string_view of = {}) const;
  /// What copying the places of the first part says; null if they cannot be copied.
  const Sequences* copies() const;
  /// Where the answer looks: links as ids, or weights; null if that is not given.
  const Part* given() const;
  /// Pixels of the first part; an undefined tensor if it has none.
  const Tensor& pixels() const;
  /// Frames [B,T,F] of the first part; an undefined tensor if it has none.
  const Tensor& frames() const;
  /// How many places each example of the first part has: tokens, frames; an image counts as one.
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
  /// For each target the source that it answers, if several may answer the same one (captions of an image, which is
  /// then read once for all of them); empty: target[b] answers source[b].
  std::vector<int32_t> source_of = {};
};

/// Letters by example and word as the rows of a part: row b·longest + t spells word t of example b, and is empty past
/// its last word.
Sequences letter_rows(std::span<const std::vector<std::vector<int32_t>>> examples, int64_t longest);

/// Throws Error unless every target has a source: as many as there are, or source_of within them.
void require_sources(const char* where, const Batch& batch);

/// Targets that count: one per token, and the end of each sentence.
int64_t target_tokens(const Batch& batch);

/// What a decoder reads and what it should predict, [B,T+1]: kBegin before the target; kEnd after it, then `ignored`.
Ids decoder_inputs(const Sequences& target);
Ids decoder_targets(const Sequences& target, int32_t ignored = -1);
/// For a batch: −1 also at places that do not count according to `only`.
Ids decoder_targets(const Batch& batch);
/// Sets all of `targets` [B,T] to −1 except the places that count.
void count_only(const Batch& batch, Ids& targets);

}  // namespace attend::data
