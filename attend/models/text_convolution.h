// Reads the words around each word at once: windows of several widths (Kim 2014).
#pragma once

#include <vector>

#include "attend/models/encoder.h"
#include "attend/nn/layers.h"

namespace attend::models {

/// yₜ = [relu(W_w·[x around t, w words wide] + b_w)] of all widths w, side by side; beyond both ends of a source x is 0. Its
/// summary is the largest value of each feature.
class TextConvolution : public Encoder {
 public:
  TextConvolution(const EncoderOptions& options, Random& random);
  static std::unique_ptr<Encoder> make(const EncoderOptions& options, Random& random);

  Encoded operator()(const data::Source& source, Training* training) const override;
  EncodedSizes sizes() const override { return {.states = size_}; }
  void params(const nn::VisitParams& visit) override;
  Var word_table() const override { return words_.table(); }

 private:
  struct Window {
    int64_t width;
    nn::Linear filters;
  };

  SourceEmbedding words_;
  int64_t size_;
  std::vector<Window> windows_;
  nn::Dropout dropout_;
};

}  // namespace attend::models
