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
  require_option(!parts_.decoder->copies() || parts_.label_smoothing == 0, "label_smoothing",
                 "expected 0 where words are copied (copy), as the words that could be copied instead differ from source "
                 "to source, got ",
                 parts_.label_smoothing);
  require_option(!parts_.decoder->copies() || parts_.r_drop == 0, "r_drop",
                 "expected 0 where words are copied (copy), got ", parts_.r_drop);
}

/// With where its answer looks, where that is given, and what may be copied, where the decoder copies.
Encoded EncoderDecoder::encoded(const data::Source& source, Training* training) const {
  Encoded all = (*parts_.encoder)(source, training);
  all.given = GivenWeights(source, all.states.dim(1));
  const data::Sequences* copies = parts_.decoder->copies() ? source.copies() : nullptr;
  if (!copies) return all;
  const int64_t B = all.states.dim(0), S = all.states.dim(1);  // places of other texts may follow
  require(copies->count() == B && copies->longest() <= S, parts_.name, ": expected what at most ", S,
          " places of each of ", B, " sources say, got that of ", copies->ids.shape);
  all.copies = Ids({B, S}, std::vector<int32_t>(static_cast<size_t>(B * S), -1));
  for (int64_t b = 0; b < B; ++b) std::ranges::copy(copies->row(b), all.copies.values.begin() + b * S);
  return all;
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
  const auto known = [&](const Ids& ids) {
    return decoder.copies() ? Ids(ids.shape, as_read(ids.values, vocabulary())) : ids;
  };
  if (training && training->own_words > 0) {
    const TapePause pause;
    const Tensor guesses = decoder.predict(known(inputs), memory, nullptr).scores();
    const auto before = static_cast<size_t>(decoder.by_time() ? inputs.shape[1] : 1);
    inputs = with_own_words(inputs, guesses, before, training->own_words, training->random);
  }
  return decoder.predict(known(inputs), memory, training);
}

Var EncoderDecoder::loss(const data::Batch& batch, Training* training) const {
  data::require_sources(parts_.name.c_str(), batch);
  return loss_of(encoded(batch.source, training), batch, training);
}

EncoderDecoder::Pass EncoderDecoder::pass(const Encoded& encoded, const data::Batch& batch, Training* training) const {
  Pass one{.memory = parts_.decoder->prepare(encoded, batch.source_of), .said = {}};
  one.said = predict(laid_out(data::decoder_inputs(batch.target)), *one.memory, training);
  return one;
}

Var EncoderDecoder::loss_of(const Encoded& encoded, const data::Batch& batch, Training* training) const {
  if (training) parts_.decoder->require_trainable();
  const Ids targets = laid_out(data::decoder_targets(batch));
  const CrossEntropyOptions options{.smoothing = training ? static_cast<real>(parts_.label_smoothing) : 0};
  const auto further = [&](const Pass& one) {
    return parts_.decoder->further_losses(one.said, *one.memory, targets, batch.target.lengths);
  };
  const Pass first = pass(encoded, batch, training);
  if (training && parts_.r_drop > 0) {
    const Pass second = pass(this->encoded(batch.source, training), batch, training);
    const Var loss =
        paired_cross_entropy(first.said.logits, second.said.logits, targets, static_cast<real>(parts_.r_drop), options);
    const Var more = further(first);
    return more.defined() ? add(loss, affine(add(more, further(second)), real(0.5), 0)) : loss;
  }
  const Var loss =
      first.said.copies() ? copy_loss(first.said.mixture, targets) : cross_entropy(first.said.logits, targets, options);
  if (!training) return loss;
  const Var more = further(first);
  return more.defined() ? add(loss, more) : loss;
}

Var EncoderDecoder::logits(const data::Batch& batch) const {
  data::require_sources(parts_.name.c_str(), batch);
  const auto memory = parts_.decoder->prepare(encoded(batch.source, nullptr), batch.source_of);
  return predict(laid_out(data::decoder_inputs(batch.target)), *memory, nullptr).logits;
}

std::vector<std::vector<double>> EncoderDecoder::copied_shares(const data::Batch& batch) const {
  if (!parts_.decoder->copies()) return {};
  data::require_sources(parts_.name.c_str(), batch);
  const TapePause pause;
  const auto memory = parts_.decoder->prepare(encoded(batch.source, nullptr), batch.source_of);
  const Prediction said = predict(laid_out(data::decoder_inputs(batch.target)), *memory, nullptr);
  const Tensor shares = attend::copied_shares(said.mixture, laid_out(data::decoder_targets(batch.target)));
  std::vector<std::vector<double>> all(batch.target.lengths.size());
  for (size_t b = 0; b < all.size(); ++b) {
    for (int64_t t = 0; t <= batch.target.lengths[b]; ++t) {
      const int64_t n = static_cast<int64_t>(b), at = parts_.decoder->by_time() ? t * shares.dim(1) + n
                                                                                : n * shares.dim(1) + t;
      all[b].push_back(static_cast<double>(shares.data()[at]));
    }
  }
  return all;
}

std::unique_ptr<State> EncoderDecoder::begin(const data::Source& source) const {
  const TapePause pause;
  return parts_.decoder->begin(encoded(source, nullptr));
}

Tensor EncoderDecoder::next(State& state, std::span<const int32_t> last) const {
  const TapePause pause;
  if (!parts_.decoder->copies()) return parts_.decoder->next(state, last);
  return parts_.decoder->next(state, as_read(last, vocabulary()));
}

int64_t EncoderDecoder::longest_answer(int64_t source_length) const {
  const EncodedSizes sizes = parts_.encoder->sizes();
  return sizes.stride > 0 ? sizes.places(source_length) : 0;
}

int64_t EncoderDecoder::longest_source() const {
  const int64_t encoder = parts_.encoder->longest(), decoder = parts_.decoder->longest_source();
  return encoder == 0 || decoder == 0 ? std::max(encoder, decoder) : std::min(encoder, decoder);
}

}  // namespace attend::models
