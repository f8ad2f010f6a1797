#include "attend/models/captioner.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/models/rows.h"

namespace attend::models {
namespace {

constexpr ParameterName kCaptionerNames[] = {{"encoder.", "encoder."},
                                             {"decoder.words.", "words."},
                                             {"decoder.cell.", "decoder."},
                                             {"decoder.bridge.", "initial."},
                                             {"decoder.", ""}};

RecurrentDecoderOptions captioner_decoder(const CaptionerOptions& o) {
  require_one_of("read", {"attention", "mean"}, o.read);
  require_one_of("query", {"state", "state_word"}, o.query);
  return {.hidden = o.hidden,
          .cell = o.cell,
          .input = o.read == "attention" ? "attention" : "every_step",
          .start = "bridge_cells",
          .asks = o.query,
          .gate = o.gate,
          .readout = o.deep_output ? "deep" : "state",
          .attention = o.attention,
          .dropout = o.dropout,
          .doubly_stochastic = o.doubly_stochastic,
          .reinforce = o.reinforce};
}

}  // namespace

EncoderDecoder::Parts parts_of(const CaptionerOptions& o, Random& random) {
  const RecurrentDecoderOptions decoder = captioner_decoder(o);
  require_option(o.read != "attention" || encoder_row(o.encoder.kind).grid, "read",
                 "attention needs an encoder with a grid; encoder.kind ", o.encoder.kind, " has none");
  require_r_drop(o.r_drop, std::max({o.dropout, o.encoder.dropout, o.attention.dropout}));
  EncoderDecoder::Parts parts{
      .name = "captioner", .label_smoothing = o.label_smoothing, .r_drop = o.r_drop, .names = kCaptionerNames};
  parts.encoder = make_encoder(o.encoder, random);
  nn::Embedding words(require_size("target_vocabulary", o.target_vocabulary), require_size("embedding", o.embedding),
                      random);
  parts.decoder = std::make_unique<RecurrentDecoder>(decoder, std::move(words), parts.encoder->sizes(), random);
  return parts;
}

}  // namespace attend::models
