// Which pairs make up each batch of an epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "attend/data/batch.h"
#include "attend/data/encoded.h"

namespace attend::data {

struct BatchOptions {
  /// Rows × the longest sequence of either side; kBegin and kEnd are not counted.
  int64_t tokens = 4096;
  int64_t sentences = 0, seed = 1;
  bool by_length = true;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("tokens", tokens, "maximum number of tokens of a batch on either side, including padding",
          bounds::within(1, 1 << 28));
    visit("sentences", sentences, "maximum number of pairs of a batch; 0: as many as the tokens allow",
          bounds::count_or_none());
    visit("by_length", by_length,
          "true: pairs of similar length share a batch, with little padding; false: any do, for lengths that tell what "
          "is asked");
    visit("seed", seed, "of the order of the pairs");
  }
};

/// Rows of one batch.
using BatchRows = std::vector<uint32_t>;

/// How long both sides of a pair are; of what has no second side, that is 0.
struct PairLengths {
  int64_t source = 0, target = 0;
};

/// The batches of epoch `number` over rows of these lengths: see Batches::epoch.
std::vector<BatchRows> planned_epoch(size_t rows, const std::function<PairLengths(uint32_t)>& lengths,
                                     const BatchOptions& options, int64_t number);

/// The tokens to learn from in place of those of part k of the sources of a row; of its target, where k is the number of parts.
using Recut = std::function<std::vector<int32_t>(uint32_t row, size_t part, std::span<const int32_t> ids)>;

/// Plans epochs over encoded pairs.
class Batches {
 public:
  Batches(const EncodedPairs& pairs, const BatchOptions& options);

  /// The batches of epoch `number`, with each pair in one of them: a pure function of the pairs, the options and the
  /// number, so that an interrupted run resumes as if it had never stopped. Pairs are shuffled, sorted by length within
  /// pools (if by_length) and split into batches, which are shuffled in turn. A pair that exceeds the budget is a batch of its own.
  std::vector<BatchRows> epoch(int64_t number) const;
  /// `recut`: null: the tokens as they are stored.
  Batch batch(std::span<const uint32_t> rows, const Recut& recut = nullptr) const;

 private:
  EncodedPairs pairs_;
  BatchOptions options_;
};

}  // namespace attend::data
