#include "attend/models/recurrent.h"

#include <algorithm>

#include "attend/models/recurrent_encoder.h"
#include "attend/models/rows.h"

namespace attend::models {
namespace {

constexpr ParameterName kRecurrentNames[] = {{"encoder.words.", "source_words."},
                                             {"decoder.words.", "target_words."},
                                             {"encoder.layers.", "encoder."},
                                             {"decoder.cell.", "decoder."},
                                             {"decoder.", ""}};

RecurrentDecoderOptions decoder_options(const RecurrentModelOptions& o) {
  return {.hidden = o.hidden,
          .layers = o.layers,
          .cell = o.cell,
          .input = o.decoder.input,
          .query = o.decoder.query,
          .feeding = o.decoder.feeding,
          .copy = o.decoder.copy,
          .oracle = o.decoder.oracle,
          .attention = o.attention,
          .dropout = o.dropout,
          .coverage_penalty = o.coverage_penalty,
          .doubly_stochastic = o.doubly_stochastic,
          .reinforce = o.reinforce};
}

}  // namespace

/// Source words, target words, encoder, decoder: the order in which they draw their first values.
EncoderDecoder::Parts parts_of(const RecurrentModelOptions& o, Random& random) {
  require_r_drop(o.r_drop, std::max(o.dropout, o.attention.dropout));
  EncoderDecoder::Parts parts{
      .name = "recurrent", .label_smoothing = o.label_smoothing, .r_drop = o.r_drop, .names = kRecurrentNames};
  SourceEmbedding source_words({.vocabulary = require_size("source_vocabulary", o.source_vocabulary),
                                .size = o.embedding,
                                .marks = marks_of(o.texts)},
                               random);
  nn::Embedding target_words(require_size("target_vocabulary", o.target_vocabulary), o.embedding, random);
  nn::Recurrent layers({.cell = nn::cell_named(o.cell),
                        .input = o.embedding,
                        .hidden = o.hidden,
                        .layers = o.layers,
                        .bidirectional = o.bidirectional,
                        .dropout = static_cast<real>(o.dropout)},
                       random);
  parts.encoder = of_texts(
      o.texts, std::make_unique<RecurrentEncoder>(std::move(source_words), std::move(layers), o.dropout));
  parts.decoder =
      std::make_unique<RecurrentDecoder>(decoder_options(o), std::move(target_words), parts.encoder->sizes(), random);
  return parts;
}


}  // namespace attend::models
