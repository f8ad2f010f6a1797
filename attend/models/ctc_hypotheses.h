// What a search remembers of N prefixes of labels under CTC: prefix probabilities (ctc_prefix.h) of several sources.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attend/models/ctc_prefix.h"
#include "attend/models/model.h"

namespace attend::models {

class CtcHypotheses : public State {
 public:
  /// logits [B,T,V], of which source b has the first counts[b] frames; the blank is data::kPad. One empty prefix each.
  CtcHypotheses(const Tensor& logits, std::span<const int32_t> counts);
  void take(std::span<const int32_t> rows) override;
  /// ln p(c|g) [N,V] of every label after `last` (Model::next); that of the end in the place of data::kEnd, and nothing in
  /// that of the blank. They sum to one.
  Tensor next(std::span<const int32_t> last);

 private:
  std::vector<std::shared_ptr<const CtcPrefix>> sources_;  // by hypothesis
  std::vector<CtcPrefix::State> prefixes_;
  int64_t labels_;
  bool started_ = false;
};

}  // namespace attend::models
