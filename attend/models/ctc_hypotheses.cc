#include "attend/models/ctc_hypotheses.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/batch.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/rows.h"
#include "attend/models/rows.h"

namespace attend::models {

CtcHypotheses::CtcHypotheses(const Tensor& logits, std::span<const int32_t> counts) : labels_(logits.dim(2)) {
  for (size_t b = 0; b < counts.size(); ++b) {
    const Tensor one = logits[static_cast<int64_t>(b)].rows(0, counts[b]);
    sources_.push_back(std::make_shared<const CtcPrefix>(one, data::kPad));
    prefixes_.push_back(sources_.back()->begin());
  }
}

void CtcHypotheses::take(std::span<const int32_t> rows) {
  sources_ = taken(sources_, rows);
  prefixes_ = taken(prefixes_, rows);
}

Tensor CtcHypotheses::next(std::span<const int32_t> last) {
  require(last.size() == prefixes_.size(), "CtcHypotheses::next: expected one id for each of ", prefixes_.size(),
          " hypotheses, got ", last.size());
  Tensor out({static_cast<int64_t>(last.size()), labels_});
  kernels::parallel_for(last.size(), [&](size_t n) {
    if (started_) prefixes_[n] = sources_[n]->advance(prefixes_[n], last[n]);
    std::vector<double> scores = sources_[n]->scores(prefixes_[n]);
    std::swap(scores[data::kEnd], scores[data::kPad]);  // the end takes the place of the blank
    for (size_t v = 0; v < scores.size(); ++v) {
      // A label that cannot follow has −∞: made finite, so that a softmax over the row remains valid.
      out.data()[n * scores.size() + v] = static_cast<real>(std::max(scores[v], double{kernels::kMaskedLog}));
    }
  });
  started_ = true;
  return out;
}

}  // namespace attend::models
