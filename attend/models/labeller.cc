#include "attend/models/labeller.h"

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/models/ready_state.h"
#include "attend/models/rows.h"

namespace attend::models {

Labeller::Labeller(const char* name, std::unique_ptr<Encoder> encoder, int64_t labels, double dropout,
                   double label_smoothing)
    : name_(name),
      labels_(labels),
      encoder_(std::move(encoder)),
      dropout_(static_cast<real>(dropout)),
      label_smoothing_(label_smoothing) {
  require(label_smoothing >= 0 && label_smoothing < 1, "label_smoothing: expected a share in [0, 1), got ",
          label_smoothing);
}

void Labeller::make_output(int64_t width, Random& random, int64_t outputs_per_label) {
  output_ = std::make_unique<nn::Linear>(width, outputs_per_label * require_size("labels", labels_), random);
}

void Labeller::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", *encoder_);
  nn::visit_part(visit, "output", *output_);
}

Var Labeller::logits(const data::Source& source, Training* training) const {
  return (*output_)(dropout_(features(source, training), random_of(training)));
}

Var Labeller::loss(const data::Batch& batch, Training* training) const {
  require_same_count(name_, batch);
  refuse_own_words(name_, training);
  return loss_of(logits(batch.source, training), batch, training != nullptr);
}

Var Labeller::loss_of(const Var& logits, const data::Batch& batch, bool training) const {
  return cross_entropy(logits, labels_of(name_, batch.target),
                       {.smoothing = training ? static_cast<real>(label_smoothing_) : 0});
}

std::unique_ptr<State> Labeller::begin(const data::Source& source) const {
  const TapePause pause;
  const Tensor said = logits(source).value();
  return ready_state(said.rank() == 2 ? said.reshape({said.dim(0), 1, labels_}) : said);
}

Tensor Labeller::next(State& state, std::span<const int32_t> last) const { return next_ready(state, last); }

}  // namespace attend::models
