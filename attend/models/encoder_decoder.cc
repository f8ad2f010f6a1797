#include "attend/models/encoder_decoder.h"

#include <algorithm>
#include <vector>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/models/rows.h"

namespace attend::models {

EncoderDecoder::EncoderDecoder(Parts parts) : parts_(std::move(parts)) {
  require(parts_.encoder && parts_.decoder, parts_.name, ": expected an encoder and a decoder, got none");
}

void EncoderDecoder::params(const nn::VisitParams& visit) {
  const auto visit_all = [&](const nn::VisitParams& each) {
    nn::visit_part(each, "encoder", *parts_.encoder);
    nn::visit_part(each, "decoder", *parts_.decoder);
  };
  if (parts_.names.empty()) return visit_all(visit);
  std::vector<std::pair<std::string, Var*>> left;
  visit_all([&](const std::string& name, Var& parameter) { left.emplace_back(name, &parameter); });
  for (const ParameterName& one : parts_.names) {
    std::erase_if(left, [&](const auto& parameter) {
      if (!parameter.first.starts_with(one.from)) return false;
      visit(std::string(one.to) + parameter.first.substr(one.from.size()), *parameter.second);
      return true;
    });
  }
  require(left.empty(), parts_.name, ": expected a name for every parameter, got none for ", left[0].first);
}

/// [N,T] as the decoder takes it.
Ids EncoderDecoder::laid_out(Ids ids) const { return parts_.decoder->by_time() ? data::transposed(ids) : ids; }

/// With a share of its own words among the inputs, if training says so.
Prediction EncoderDecoder::predict(Ids inputs, const Decoder::Memory& memory, Training* training) const {
  const Decoder& decoder = *parts_.decoder;
  if (training && training->own_words > 0) {
    const TapePause pause;
    const Var guesses = decoder.predict(inputs, memory, nullptr).logits;
    const auto before = static_cast<size_t>(decoder.by_time() ? inputs.shape[1] : 1);
    inputs = with_own_words(inputs, guesses.value(), before, training->own_words, training->random);
  }
  return decoder.predict(inputs, memory, training);
}

Var EncoderDecoder::loss(const data::Batch& batch, Training* training) const {
  data::require_sources(parts_.name.c_str(), batch);
  if (training) parts_.decoder->require_trainable();
  const Encoded encoded = (*parts_.encoder)(batch.source, training);
  const auto memory = parts_.decoder->prepare(encoded, batch.source_of);
  const Prediction said = predict(laid_out(data::decoder_inputs(batch.target)), *memory, training);
  const Ids targets = laid_out(data::decoder_targets(batch));
  if (!training) return cross_entropy(said.logits, targets);
  const Var loss = cross_entropy(said.logits, targets, {.smoothing = static_cast<real>(parts_.label_smoothing)});
  const Var more = parts_.decoder->further_losses(said, *memory, targets, batch.target.lengths);
  return more.defined() ? add(loss, more) : loss;
}

Var EncoderDecoder::logits(const data::Batch& batch) const {
  data::require_sources(parts_.name.c_str(), batch);
  const auto memory = parts_.decoder->prepare((*parts_.encoder)(batch.source, nullptr), batch.source_of);
  return predict(laid_out(data::decoder_inputs(batch.target)), *memory, nullptr).logits;
}

std::unique_ptr<State> EncoderDecoder::begin(const data::Source& source) const {
  const TapePause pause;
  return parts_.decoder->begin((*parts_.encoder)(source, nullptr));
}

Tensor EncoderDecoder::next(State& state, std::span<const int32_t> last) const {
  const TapePause pause;
  return parts_.decoder->next(state, last);
}

int64_t EncoderDecoder::longest_source() const {
  const int64_t encoder = parts_.encoder->longest(), decoder = parts_.decoder->longest_source();
  return encoder == 0 || decoder == 0 ? std::max(encoder, decoder) : std::min(encoder, decoder);
}

}  // namespace attend::models
