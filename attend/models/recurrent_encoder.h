// Reads words one after another, in one or both directions (Graves & Schmidhuber 2005).
#pragma once

#include "attend/models/encoder.h"
#include "attend/nn/layers.h"

namespace attend::models {

/// hₜ = f(xₜ, hₜ₋₁); in both directions [h→ₜ; h←ₜ] or h→ₜ + h←ₜ. The summary is the last state of each direction,
/// combined likewise.
class RecurrentEncoder : public Encoder {
 public:
  enum class Directions { concat, add };
  /// From its parts: the caller that makes them decides the order of their random numbers.
  RecurrentEncoder(SourceEmbedding words, nn::Recurrent layers, double dropout,
                   Directions directions = Directions::concat);
  static std::unique_ptr<Encoder> make(const EncoderOptions& options, Random& random);

  Encoded operator()(const data::Source& source, Training* training) const override;
  EncodedSizes sizes() const override;
  void params(const nn::VisitParams& visit) override;
  Var word_table() const override { return words_.table(); }

 private:
  bool both_ways() const { return layers_.options().bidirectional; }
  Var joined(const Var& forward, const Var& backward) const;
  Var joined(const Var& both) const;

  SourceEmbedding words_;
  nn::Recurrent layers_;
  nn::Dropout dropout_;
  Directions directions_;
};

}  // namespace attend::models
