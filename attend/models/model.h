// What every network offers: `loss` to learn from, and `begin` and `next` to use it. Decoding, explaining and serving
// depend only on these, so they all work with a new network from the start.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/base/random.h"
#include "attend/data/batch.h"
#include "attend/nn/layer.h"

namespace attend::models {

/// What only a forward pass in training has: random numbers (dropout, sampling), how many updates came before it
/// (falling temperatures), and the share of the preceding words that a decoder replaces with its own guesses (scheduled
/// sampling; Bengio et al. 2015).
struct Training {
  Random random;
  int64_t update = 0;
  double own_words = 0;
};

/// What a decoder remembers about N hypotheses.
class State {
 public:
  virtual ~State() = default;
  /// Keeps the hypotheses `rows`, in that order; one may be repeated, and one that is left out costs nothing from then
  /// on.
  virtual void take(std::span<const int32_t> rows) = 0;
  /// Appends the hypotheses of another state of the same model, which is used up; from then on `next` is asked for all of them at
  /// once, whatever step each is at. False, and nothing has changed: such states cannot be computed together.
  virtual bool join(State& /*other*/) { return false; }
};

/// One of the likeliest answers to a source.
struct BestAnswer {
  std::vector<int32_t> tokens;
  /// What it is ranked by. Not normalised where the model has such a score, so that answers from several windows of one document
  /// can be compared.
  double score = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual void params(const nn::VisitParams& visit) = 0;

  /// Mean loss per target that counts, a scalar. Without `training`: −ln p of the target, with no dropout, no sampling, no
  /// label smoothing and no penalties.
  virtual Var loss(const data::Batch& batch, Training* training = nullptr) const = 0;

  /// Reads the sources. The hypotheses are one per source, all empty.
  virtual std::unique_ptr<State> begin(const data::Source& source) const = 0;
  /// Logits [N,V] of what follows after `last`, one id per hypothesis: kBegin the first time, then what was chosen. Where
  /// words of the source may be copied, [N,W]: those outside the vocabulary come after it (Source::copies), and what a
  /// hypothesis cannot say is −∞.
  virtual Tensor next(State& state, std::span<const int32_t> last) const = 0;

  /// The `count` likeliest answers to each source, best first (fewer if there are no more), for a state fresh from `begin`, if the
  /// answer's length is fixed and the model can find so many better than label by label; empty: a search must look for them.
  virtual std::vector<std::vector<BestAnswer>> best(const State& /*state*/, int64_t /*count*/) const { return {}; }

  /// For each target the share of the probability of each of its tokens, and of its end, that copying gives it; empty if
  /// the network does not copy.
  virtual std::vector<std::vector<double>> copied_shares(const data::Batch& /*batch*/) const { return {}; }

  /// Number of classes V that `next` chooses from; 0: as many as its logits have, as they are places of the source.
  virtual int64_t vocabulary() const = 0;
  /// How many tokens the answer to a source of this length has, if that is fixed (a label: 1; tags: one per input); -1
  /// if the model predicts kEnd itself.
  virtual int64_t answer_length(int64_t /*source_length*/) const { return -1; }

  /// The most tokens that an answer to a source of this length can have, if there is such a bound (of what is said of a
  /// sound, one for each place that it was encoded to); 0: any number.
  virtual int64_t longest_answer(int64_t /*source_length*/) const { return 0; }

  /// How many frames of sound a place of an encoded source stands for (a column of attention to it, a frame of CTC); 0:
  /// places are not frames.
  virtual int64_t stride() const { return 0; }
  /// How many places a source of so many words or frames has once it is encoded.
  int64_t places(int64_t source_length) const {
    return stride() > 0 ? (source_length + stride() - 1) / stride() : source_length;
  }

  /// About how many numbers a state keeps of one hypothesis of that many tokens, beyond a few vectors.
  virtual int64_t hypothesis_numbers(int64_t /*length*/) const { return 0; }

  /// The most tokens that a source may have (learned positions have a limit); 0: any number.
  virtual int64_t longest_source() const { return 0; }
  /// The vectors of the source words [words,size], which may be initialised with pre-trained ones; undefined if it has
  /// none.
  virtual Var word_table() const { return {}; }
};

}  // namespace attend::models
