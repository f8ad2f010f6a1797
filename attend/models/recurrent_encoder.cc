#include "attend/models/recurrent_encoder.h"

#include <array>

#include "attend/autograd/ops.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"
#include "attend/models/source_words.h"

namespace attend::models {
namespace {

struct DirectionsRow {
  std::string_view name;
  RecurrentEncoder::Directions directions;
};
constexpr DirectionsRow kDirections[] = {{"concat", RecurrentEncoder::Directions::concat},
                                         {"add", RecurrentEncoder::Directions::add}};

}  // namespace

RecurrentEncoder::RecurrentEncoder(SourceEmbedding words, nn::Recurrent layers, double dropout, Directions directions)
    : words_(std::move(words)),
      layers_(std::move(layers)),
      dropout_(static_cast<real>(dropout)),
      directions_(directions) {}

std::unique_ptr<Encoder> RecurrentEncoder::make(const EncoderOptions& o, Random& random) {
  const Directions directions = row_named("directions", kDirections, o.directions).directions;
  SourceEmbedding words(words_of(o), random);
  nn::Recurrent layers({.cell = nn::cell_named(o.cell),
                        .input = words.size(),
                        .hidden = o.size,
                        .layers = o.layers,
                        .bidirectional = o.bidirectional,
                        .dropout = static_cast<real>(o.dropout)},
                       random);
  return std::make_unique<RecurrentEncoder>(std::move(words), std::move(layers), o.dropout, directions);
}

Var RecurrentEncoder::joined(const Var& forward, const Var& backward) const {
  return directions_ == Directions::add ? add(forward, backward) : concat(std::array{forward, backward}, 1);
}

/// [T,B,2H] → [T,B,D].
Var RecurrentEncoder::joined(const Var& both) const {
  const int64_t H = layers_.options().hidden;
  if (!both_ways() || directions_ == Directions::concat) return both;
  return add(slice(both, 2, 0, H), slice(both, 2, H, 2 * H));
}

Encoded RecurrentEncoder::operator()(const data::Source& source, Training* training) const {
  require_not_empty("encoder", source);
  Random* random = random_of(training);
  Encoded encoded;
  encoded.words = dropout_(SourceWords::seen(words_(source, training, true), true), random);
  nn::Recurrent::Output read = layers_(encoded.words, source.lengths(), {}, random);
  const size_t count = read.last.size();
  encoded.summary = both_ways() ? joined(read.last[count - 2].h, read.last[count - 1].h) : read.last.back().h;
  encoded.by_time = joined(read.y);
  encoded.states = transpose(encoded.by_time, 0, 1);
  encoded.lengths = source.lengths();
  encoded.last = std::move(read.last);
  return encoded;
}

EncodedSizes RecurrentEncoder::sizes() const {
  const nn::RecurrentOptions& o = layers_.options();
  const bool wide = o.bidirectional && directions_ == Directions::concat;
  return {.states = o.hidden * (wide ? 2 : 1),
          .words = o.input,
          .layers = o.layers,
          .state = o.hidden,
          .directions = o.bidirectional ? 2 : 1};
}

void RecurrentEncoder::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "words", words_);
  nn::visit_part(visit, "layers", layers_);
}

}  // namespace attend::models
