// Decoders: words from what an encoder has read, all at once under teacher forcing or one at a time. Whatever it is
// made of, a decoder sees its source only as `Encoded`.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "attend/models/attention_losses.h"
#include "attend/models/copying.h"
#include "attend/models/encoder.h"

namespace attend::models {

/// What a decoder predicts under teacher forcing, and what its attention did meanwhile.
struct Prediction {
  Var logits;  ///< [T,N,V] by time, or [N,T,V]
  AttentionTrail trail = {};
  CopyMixture mixture = {};  ///< of a decoder that copies: what the logits are a part of, …
  int64_t words = 0;         ///< … over so many words

  bool copies() const { return mixture.gate.defined(); }
  /// What each word that may follow is judged by, not recorded: the logits or, where words are copied, ln P [..,words].
  Tensor scores() const { return copies() ? copy_log_probabilities(mixture, words) : logits.value(); }
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual void params(const nn::VisitParams& visit) = 0;
  /// Number of words V.
  virtual int64_t vocabulary() const = 0;
  /// Whether it takes inputs [T,N] and gives logits [T,N,V], rather than [N,T] and [N,T,V].
  virtual bool by_time() const = 0;

  /// What it keeps of the sources of N answers.
  struct Memory {
    virtual ~Memory() = default;
  };
  /// Answer n reads source source_of[n]; empty: source n.
  virtual std::unique_ptr<Memory> prepare(const Encoded& encoded, std::span<const int32_t> source_of) const = 0;
  /// Logits of what follows each of `inputs`.
  virtual Prediction predict(const Ids& inputs, const Memory& memory, Training* training) const = 0;
  /// What it learns in training besides its words (penalties, REINFORCE); undefined if there is nothing. `targets` are
  /// laid out like the logits, −1 where none counts; `target_lengths` exclude the ends.
  virtual Var further_losses(const Prediction& /*said*/, const Memory& /*memory*/, const Ids& /*targets*/,
                             std::span<const int32_t> /*target_lengths*/) const {
    return {};
  }
  /// Throws Error if it cannot be trained with its current options.
  virtual void require_trainable() const {}

  /// As Model::begin and Model::next.
  virtual std::unique_ptr<State> begin(const Encoded& encoded) const = 0;
  virtual Tensor next(State& state, std::span<const int32_t> last) const = 0;

  /// Whether each of its words attends to the source separately.
  virtual bool attends() const = 0;
  /// Whether it copies words of the source, which it then gets as `Encoded::copies`. The words that it has said it reads
  /// as `as_read` gives them.
  virtual bool copies() const { return false; }
  /// Trained with one align, used with another; decoders that have none to change throw Error.
  virtual void set_align(const std::string& name) = 0;
  /// As Model::hypothesis_numbers.
  virtual int64_t hypothesis_numbers(int64_t /*length*/) const { return 0; }
  /// The most places that a source may have (a score by position has a limit); 0: any.
  virtual int64_t longest_source() const { return 0; }
};

}  // namespace attend::models
