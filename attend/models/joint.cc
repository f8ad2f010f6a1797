#include "attend/models/joint.h"

#include <algorithm>
#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/rows.h"
#include "attend/models/ctc_hypotheses.h"
#include "attend/models/rows.h"

namespace attend::models {
namespace {

EncoderDecoder::Parts joint_parts(const JointOptions& options, Random& random) {
  EncoderDecoder::Parts parts = parts_of(static_cast<const EncoderDecoderOptions&>(options), random);
  parts.name = "joint";
  require_option(!parts.decoder->copies(), "decoder.copy", "expected false, as CTC does not copy words, got true");
  require_option(options.target_vocabulary > data::kEnd, "target_vocabulary",
                 "expected more words than the reserved ones, got ", options.target_vocabulary);
  return parts;
}

/// Lengths of all T places if there are none.
std::vector<int32_t> places_of(const Encoded& encoded) {
  if (!encoded.lengths.empty()) return encoded.lengths;
  return std::vector<int32_t>(static_cast<size_t>(encoded.states.dim(0)), static_cast<int32_t>(encoded.states.dim(1)));
}

/// (1 − λ)·ln softmax(said) + λ·ctc of one hypothesis, [V] each. The mixture sums to at most one (Hölder); what is left goes
/// to the blank, which is never said, so that a search that normalises changes nothing. What CTC excludes stays excluded.
void mix(const real* said, const real* ctc, size_t words, double weight, real* out) {
  const double top = *std::max_element(said, said + words);
  double sum = 0, mixed = 0;
  for (size_t v = 0; v < words; ++v) sum += std::exp(static_cast<double>(said[v]) - top);
  const double log_sum = top + std::log(sum);
  for (size_t v = 0; v < words; ++v) {
    out[v] = kernels::kMaskedLog;
    if (v == static_cast<size_t>(data::kPad) || ctc[v] <= kernels::kMaskedLog) continue;
    const double score = (1 - weight) * (static_cast<double>(said[v]) - log_sum) + weight * static_cast<double>(ctc[v]);
    out[v] = static_cast<real>(score);
    mixed += std::exp(score);
  }
  if (mixed < 1) out[data::kPad] = static_cast<real>(std::log1p(-mixed));
}

}  // namespace

struct Joint::Hypotheses : State {
  std::unique_ptr<State> said;
  std::unique_ptr<CtcHypotheses> ctc;
  void take(std::span<const int32_t> rows) override {
    said->take(rows);
    ctc->take(rows);
  }
};

Joint::Joint(const JointOptions& o, Random& random)
    : EncoderDecoder(joint_parts(o, random)),
      weight_(o.ctc_weight),
      decode_weight_(o.decode_ctc_weight),
      output_(encoder().output_size(), o.target_vocabulary, random) {}

void Joint::params(const nn::VisitParams& visit) {
  EncoderDecoder::params(visit);
  nn::visit_part(visit, "ctc", output_);
}

Var Joint::loss(const data::Batch& batch, Training* training) const {
  data::require_sources(name(), batch);
  const Encoded read = encoded(batch.source, training);
  const Var said = loss_of(read, batch, training);
  // CTC does not tell places apart: what a single token depended on is asked of attention.
  const bool one_place = !training && !batch.only.empty();
  const auto weight = static_cast<real>(training ? weight_ : one_place ? 0 : decode_weight_);
  return weight == 0 ? said : add(affine(said, 1 - weight), affine(ctc_loss_of(read, batch), weight));
}

/// Per token. A target that needs more frames than its source has is left out.
Var Joint::ctc_loss_of(const Encoded& read, const data::Batch& batch) const {
  require(batch.only.empty(), "joint: expected a loss of whole sequences; CTC does not tell their places apart");
  Var logits = output_(read.states);
  std::vector<int32_t> counts = places_of(read);
  if (!batch.source_of.empty()) {
    logits = take_rows(logits, batch.source_of);
    counts = taken(counts, batch.source_of);
  }
  std::vector<std::vector<int32_t>> targets;
  for (int64_t b = 0; b < batch.target.count(); ++b) targets.push_back(batch.target.row(b));
  const Var each = ctc_loss(transpose(logits, 0, 1), counts, targets, {.blank = data::kPad, .skip_impossible = true});
  return affine(each, static_cast<real>(batch.target.count()) / static_cast<real>(data::target_tokens(batch)));
}

Tensor Joint::frames(const data::Source& source) const {
  const TapePause pause;
  return output_(encoded(source, nullptr).states).value();
}

Tensor Joint::posteriors(const data::Source& source) const {
  const TapePause pause;
  return softmax(Var(frames(source))).value();
}

std::unique_ptr<State> Joint::begin(const data::Source& source) const {
  if (decode_weight_ == 0) return EncoderDecoder::begin(source);
  const TapePause pause;
  const Encoded read = encoded(source, nullptr);
  auto state = std::make_unique<Hypotheses>();
  state->ctc = std::make_unique<CtcHypotheses>(output_(read.states).value(), places_of(read));
  state->said = decoder().begin(read);
  return state;
}

Tensor Joint::next(State& state, std::span<const int32_t> last) const {
  if (decode_weight_ == 0) return EncoderDecoder::next(state, last);
  auto& both = dynamic_cast<Hypotheses&>(state);
  const Tensor said = EncoderDecoder::next(*both.said, last), ctc = both.ctc->next(last);
  Tensor out(said.shape());
  const size_t words = static_cast<size_t>(vocabulary());
  for (size_t n = 0; n < last.size(); ++n) {
    mix(said.data() + n * words, ctc.data() + n * words, words, decode_weight_, out.data() + n * words);
  }
  return out;
}

}  // namespace attend::models
