#include "attend/models/encoder_decoder_options.h"

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"
#include "attend/models/transformer.h"

namespace attend::models {
namespace {

/// Sound if frames have a width or its kind reads nothing else; text if there are words or its kind reads no images; else
/// images.
std::unique_ptr<Encoder> make_encoder(const EncoderDecoderOptions& options, Random& random) {
  const EncoderRow& row = encoder_row(options.encoder.text.kind);
  if (options.encoder.text.features > 0 || (row.of_sound && !row.of_text)) {
    require_option(options.source_vocabulary == 0, "encoder.features", "expected 0 where words are read ",
                   "(source_vocabulary ", options.source_vocabulary, "), got ", options.encoder.text.features);
    return make_encoder(options.encoder.text, random);
  }
  if (row.of_text && (!row.of_images || options.source_vocabulary > 0)) {
    EncoderOptions text = options.encoder.text;
    text.vocabulary = require_size("source_vocabulary", options.source_vocabulary);
    text.marks = marks_of(options.texts);
    return of_texts(options.texts, make_encoder(text, random));
  }
  ImageEncoderOptions image = options.encoder.image;
  image.kind = options.encoder.text.kind;
  image.positions = options.encoder.text.positions == "auto" ? "none" : options.encoder.text.positions;
  image.dropout = options.encoder.text.dropout;
  return make_encoder(image, random);
}

std::unique_ptr<Decoder> make_recurrent(const EncoderDecoderOptions& options, const Encoder& encoder, Random& random) {
  const DecoderOptions& o = options.decoder;
  const int64_t size = require_size("decoder.size", o.recurrent.hidden);
  nn::Embedding words(require_size("target_vocabulary", options.target_vocabulary),
                      o.embedding > 0 ? o.embedding : size, random);
  return std::make_unique<RecurrentDecoder>(o.recurrent, std::move(words), encoder.sizes(), random);
}

std::unique_ptr<Decoder> make_transformer(const EncoderDecoderOptions& options, const Encoder& encoder,
                                          Random& random) {
  const DecoderOptions& o = options.decoder;
  require_option(o.tied != "all" || encoder.tokens(), "decoder.tied",
                 "only a transformer's encoder has words to share; choose output, or encoder.kind transformer");
  const TransformerOptions transformer{.source_vocabulary = options.source_vocabulary,
                                       .target_vocabulary = options.target_vocabulary,
                                       .size = o.recurrent.hidden,
                                       .heads = o.heads,
                                       .hidden = o.hidden,
                                       .decoder_layers = o.recurrent.layers,
                                       .positions = o.positions,
                                       .longest = o.longest,
                                       .tied = o.tied,
                                       .dropout = o.recurrent.dropout,
                                       .copy = o.recurrent.copy};
  return std::make_unique<TransformerDecoder>(with_blocks(transformer, o.blocks), encoder.output_size(),
                                              encoder.tokens(), random);
}

constexpr DecoderRow kDecoders[] = {
    {"recurrent", "hₜ = f(yₜ₋₁, cₜ, hₜ₋₁), reads the source in one of several ways",
     "Cho et al. 2014; Bahdanau et al. 2015", make_recurrent},
    {"transformer", "blocks of self-attention and attention to the source", "Vaswani et al. 2017", make_transformer},
};

}  // namespace

std::span<const DecoderRow> decoders() { return kDecoders; }

EncoderDecoder::Parts parts_of(const EncoderDecoderOptions& options, Random& random) {
  const RecurrentDecoderOptions& said = options.decoder.recurrent;
  require_r_drop(options.r_drop, std::max({options.encoder.text.dropout, options.encoder.text.word_dropout,
                                           said.dropout, said.attention.dropout}));
  EncoderDecoder::Parts parts{
      .name = "encoder_decoder", .label_smoothing = options.label_smoothing, .r_drop = options.r_drop};
  parts.encoder = make_encoder(options, random);
  parts.decoder =
      row_named("decoder.kind", kDecoders, options.decoder.kind).make(options, *parts.encoder, random);
  return parts;
}

}  // namespace attend::models
