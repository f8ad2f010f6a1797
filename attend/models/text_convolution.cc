#include "attend/models/text_convolution.h"

#include <algorithm>
#include <array>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/models/image_encoder.h"
#include "attend/models/rows.h"
#include "attend/models/source_words.h"

namespace attend::models {
namespace {

/// x [B,T,E] without what lies beyond the end of each source.
Var within_lengths(const Var& x, const std::vector<int32_t>& lengths) {
  const int64_t B = x.dim(0), T = x.dim(1);
  Tensor counts = Tensor::zeros({B, T, 1});
  for (int64_t b = 0; b < B; ++b) std::fill_n(counts.data() + b * T, lengths[static_cast<size_t>(b)], real{1});
  return multiply(x, counts);
}

/// y[b,t] = x[b,t+by]; 0 where that lies outside.
Var shifted(const Var& x, int64_t by) {
  const int64_t B = x.dim(0), T = x.dim(1), E = x.dim(2), far = std::min(std::abs(by), T);
  if (far == 0) return x;
  const Var outside = Tensor::zeros({B, far, E});
  if (far == T) return outside;
  return by > 0 ? concat(std::array{slice(x, 1, far, T), outside}, 1)
                : concat(std::array{outside, slice(x, 1, 0, T - far)}, 1);
}

}  // namespace

TextConvolution::TextConvolution(const EncoderOptions& o, Random& random)
    : words_(words_of(o), random), size_(o.size), dropout_(static_cast<real>(o.dropout)) {
  const std::vector<int64_t> widths = widths_of("encoder.windows", o.windows);
  const int64_t count = static_cast<int64_t>(widths.size());
  require_option(o.size >= count, "encoder.size", "expected at least one feature for each of ", count, " windows, got ",
                 o.size);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t filters = o.size / count + (i < o.size % count ? 1 : 0), width = widths[static_cast<size_t>(i)];
    windows_.push_back({width, nn::Linear(width * words_.size(), filters, random, true, Activation::relu, "he")});
  }
}

std::unique_ptr<Encoder> TextConvolution::make(const EncoderOptions& options, Random& random) {
  return std::make_unique<TextConvolution>(options, random);
}

Encoded TextConvolution::operator()(const data::Source& source, Training* training) const {
  require_not_empty("encoder", source);
  const Var words = dropout_(SourceWords::seen(words_(source, training, false), false), random_of(training));
  const Var x = within_lengths(words, source.lengths());
  std::vector<Var> found;
  for (const Window& window : windows_) {
    std::vector<Var> around;
    for (int64_t i = 0; i < window.width; ++i) around.push_back(shifted(x, i - window.width / 2));
    found.push_back(window.filters(concat(around, 2)));
  }
  Encoded encoded;
  encoded.states = concat(found, 2);
  encoded.lengths = source.lengths();
  encoded.summary = max_state(encoded.states, encoded.lengths);
  return encoded;
}

void TextConvolution::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "words", words_);
  for (Window& window : windows_) nn::visit_part(visit, "window" + std::to_string(window.width), window.filters);
}

}  // namespace attend::models
