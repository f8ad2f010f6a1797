#include "attend/models/intra.h"

#include <algorithm>
#include <array>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/models/rows.h"
#include "attend/models/source_words.h"

namespace attend::models {

IntraLstm::IntraLstm(int64_t input, int64_t hidden, Random& random, int64_t layer)
    : hidden_(hidden),
      cell_(Cell::lstm, input, hidden, random),
      attention_({.query = input + hidden, .key = hidden, .value = 2 * hidden, .score = "additive", .hidden = hidden},
                 random, {"encoder.past", Purpose::self, layer}) {}

IntraLstm::Output IntraLstm::operator()(const Var& x, const std::vector<int32_t>& lengths) const {
  require(x.defined() && x.rank() == 3, "IntraLstm: expected x [T,B,I], got ", x.shape());
  const int64_t T = x.dim(0), B = x.dim(1), H = hidden_;
  const Var nothing = Tensor::zeros({B, H});
  Var h = nothing, c = nothing;  // h̃ and c̃: before there is a past, zeros
  std::vector<Var> states;       // hₜ [B,1,H]
  AttentionMemory past;          // of the values [hₜ; cₜ]
  for (int64_t t = 0; t < T; ++t) {
    const Var word = select(x, t);
    if (t > 0) {
      const Var query = reshape(concat(std::array{word, h}, 1), {B, 1, x.dim(2) + H});
      const Var both = reshape(attention_(query, past, {.position = t}).context, {B, 2 * H});
      h = slice(both, 1, 0, H), c = slice(both, 1, H, 2 * H);
    }
    const RecurrentState next = cell_(word, {h, c});
    states.push_back(reshape(next.h, {B, 1, H}));
    attention_.extend(past, states.back(), reshape(concat(std::array{next.h, next.c}, 1), {B, 1, 2 * H}));
  }
  const Var all = concat(states, 1);  // [B,T,H]
  Output out;
  Tensor within = Tensor::full({B, T, 1}, 1);
  std::vector<int32_t> last(static_cast<size_t>(B));
  for (int64_t b = 0; b < B; ++b) {
    const int64_t length = lengths.empty() ? T : lengths[static_cast<size_t>(b)];
    std::fill_n(within.data() + b * T + length, T - length, real{0});
    last[static_cast<size_t>(b)] = static_cast<int32_t>(b * T + length - 1);
  }
  out.y = transpose(multiply(all, within), 0, 1);
  out.last = take_rows(reshape(all, {B * T, H}), last);
  return out;
}

void IntraLstm::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "cell", cell_);
  nn::visit_part(visit, "attention", attention_);
}

IntraEncoder::IntraEncoder(const EncoderOptions& o, Random& random)
    : size_(require_size("size", o.size)),
      words_(words_of(o), random),
      dropout_(static_cast<real>(o.dropout)) {
  for (int64_t i = 0; i < require_size("layers", o.layers); ++i) {
    layers_.emplace_back(i == 0 ? words_.size() : size_, size_, random, i);
  }
}

std::unique_ptr<Encoder> IntraEncoder::make(const EncoderOptions& options, Random& random) {
  return std::make_unique<IntraEncoder>(options, random);
}

Encoded IntraEncoder::operator()(const data::Source& source, Training* training) const {
  require_not_empty("encoder", source);
  Encoded encoded;
  IntraLstm::Output read{SourceWords::seen(words_(source, training, true), true), {}};
  for (const IntraLstm& layer : layers_) {
    const Var x = dropout_(read.y, random_of(training));
    if (!encoded.words.defined()) encoded.words = x;
    read = layer(x, source.lengths());
  }
  encoded.states = transpose(read.y, 0, 1);
  encoded.summary = read.last;
  encoded.lengths = source.lengths();
  return encoded;
}

void IntraEncoder::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "words", words_);
  for (size_t i = 0; i < layers_.size(); ++i) nn::visit_part(visit, std::to_string(i), layers_[i]);
}

}  // namespace attend::models
