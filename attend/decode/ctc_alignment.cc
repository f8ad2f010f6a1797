#include "attend/decode/ctc_alignment.h"

#include <algorithm>
#include <limits>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"

namespace attend::decode {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Labels with a blank before, between and behind them.
std::vector<int32_t> with_blanks(std::span<const int32_t> labels, int32_t blank) {
  std::vector<int32_t> path{blank};
  for (const int32_t label : labels) path.push_back(label), path.push_back(blank);
  return path;
}

}  // namespace

std::vector<LabelFrames> ctc_alignment(const Tensor& logits, std::span<const int32_t> labels, int32_t blank) {
  require(logits.defined() && logits.rank() == 2, "ctc_alignment: expected logits [T,V], got ", logits.shape());
  const int64_t frames = logits.dim(0), vocabulary = logits.dim(1);
  int64_t needed = std::ssize(labels);
  for (size_t i = 0; i < labels.size(); ++i) {
    require(labels[i] >= 0 && labels[i] < vocabulary && labels[i] != blank, "ctc_alignment: expected labels below ", vocabulary,
            " other than the blank, got ", labels[i]);
    if (i > 0) needed += labels[i] == labels[i - 1];
  }
  require(frames >= needed, "ctc_alignment: expected at least ", needed, " frames, got ", frames);
  if (labels.empty()) return {};
  const TapePause pause;
  const Tensor ln = log_softmax(Var(logits)).value();
  const std::vector<int32_t> path = with_blanks(labels, blank);
  const size_t states = path.size();
  std::vector<double> score(states, kNever), before;
  std::vector<uint8_t> steps(static_cast<size_t>(frames) * states);  // how many states back the best predecessor is
  score[0] = 0;  // before the first frame: as if in state 0, or about to enter state 1
  for (int64_t t = 0; t < frames; ++t) {
    before = score;
    for (size_t s = 0; s < states; ++s) {
      const bool may_skip = s >= 2 && path[s] != blank && path[s] != path[s - 2];
      size_t best = 0;
      for (size_t back = 1; back <= (may_skip ? 2U : 1U) && back <= s; ++back) {
        if (before[s - back] > before[s - best]) best = back;
      }
      steps[static_cast<size_t>(t) * states + s] = static_cast<uint8_t>(best);
      score[s] = before[s - best] + static_cast<double>(ln.data()[t * vocabulary + path[s]]);
    }
  }
  size_t state = score[states - 2] > score[states - 1] ? states - 2 : states - 1;
  std::vector<LabelFrames> found(labels.size());
  for (int64_t t = frames - 1; t >= 0; --t) {
    if (state % 2 == 1) {
      LabelFrames& one = found[state / 2];
      if (one.end == 0) one.end = t + 1;
      one.begin = t;
    }
    state -= steps[static_cast<size_t>(t) * states + state];
  }
  return found;
}

}  // namespace attend::decode
