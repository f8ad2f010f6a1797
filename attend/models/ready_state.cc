#include "attend/models/ready_state.h"

#include <algorithm>
#include <utility>

#include "attend/autograd/ops/shape.h"
#include "attend/base/error.h"

namespace attend::models {
namespace {

struct ReadyState : State {
  Tensor logits;
  int64_t step = 0;
  void take(std::span<const int32_t> rows) override { logits = take_rows(logits, rows).value(); }
};

}  // namespace

Tensor next_ready(State& state, std::span<const int32_t> last) {
  auto& ready = dynamic_cast<ReadyState&>(state);
  const int64_t N = ready.logits.dim(0), T = ready.logits.dim(1), V = ready.logits.dim(2);
  require(static_cast<int64_t>(last.size()) == N, "next: expected one id for each of ", N, " hypotheses, got ",
          last.size());
  require(ready.step < T, "next: there are ", T, " answers, and all have been given");
  Tensor out({N, V});
  for (int64_t n = 0; n < N; ++n) {
    std::copy_n(ready.logits.data() + (n * T + ready.step) * V, V, out.data() + n * V);
  }
  ++ready.step;
  return out;
}

std::unique_ptr<State> ready_state(Tensor logits) {
  auto state = std::make_unique<ReadyState>();
  state->logits = std::move(logits);
  return state;
}

Ids labels_of(const char* where, const data::Sequences& target) {
  std::vector<int32_t> labels;
  for (int64_t b = 0; b < target.count(); ++b) {
    require(target.lengths[static_cast<size_t>(b)] == 1, where, ": expected one label for each source, got ",
            target.lengths[static_cast<size_t>(b)], " for source ", b);
    labels.push_back(target.row(b)[0]);
  }
  return Ids({target.count()}, std::move(labels));
}

}  // namespace attend::models
