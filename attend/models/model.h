// What every network offers: `loss` to learn from, and `begin` and `next` to use it. Decoding, explaining and serving
// know only these, so a new network has all of them on the day it is added.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/base/random.h"
#include "attend/data/batch.h"
#include "attend/nn/layer.h"

namespace attend::models {

/// What a forward pass in training has and one in use has not: random numbers (dropout, sampling), how many updates came
/// before it (temperatures that fall), and the share of the words before it that a decoder reads of its own guesses in
/// place of the right ones (scheduled sampling; Bengio et al. 2015).
struct Training {
  Random random;
  int64_t update = 0;
  double own_words = 0;
};

/// What a decoder remembers of N hypotheses.
class State {
 public:
  virtual ~State() = default;
  /// Keeps the hypotheses `rows`, in that order; one may be named several times, and one that is not named costs nothing
  /// from then on.
  virtual void take(std::span<const int32_t> rows) = 0;
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
  /// Logits [N,V] of what follows after `last`, one id per hypothesis: kBegin the first time, then what was chosen.
  virtual Tensor next(State& state, std::span<const int32_t> last) const = 0;

  /// The likeliest answer to each source, of a state as `begin` made it, where the answer's length is fixed and the model
  /// knows a better way to it than label by label; empty: a search has to look for it.
  virtual std::vector<std::vector<int32_t>> best(const State& /*state*/) const { return {}; }

  /// Number of classes V that `next` chooses from.
  virtual int64_t vocabulary() const = 0;
  /// How many tokens the answer to a source of this length has, where that is fixed (a label: 1; tags: one per input);
  /// -1 where the model says kEnd itself.
  virtual int64_t answer_length(int64_t /*source_length*/) const { return -1; }

  /// The most tokens that a source may have (learned positions end somewhere); 0: any number.
  virtual int64_t longest_source() const { return 0; }
  /// The vectors of the source words [words,size], which may begin with ones that were learned elsewhere; undefined where
  /// it has none.
  virtual Var word_table() const { return {}; }
};

}  // namespace attend::models
