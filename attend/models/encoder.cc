#include "attend/models/encoder.h"

#include <array>

#include "attend/autograd/ops.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"
#include "attend/models/source_words.h"

namespace attend::models {
namespace {

Random* random_of(Training* training) { return training ? &training->random : nullptr; }

class RecurrentEncoder : public Encoder {
 public:
  RecurrentEncoder(const EncoderOptions& o, Random& random)
      : words_(require_size("vocabulary", o.vocabulary), o.size, random),
        dropout_(static_cast<real>(o.dropout)),
        layers_({.cell = nn::cell_named(o.cell),
                 .input = o.size,
                 .hidden = o.size,
                 .layers = o.layers,
                 .bidirectional = o.bidirectional,
                 .dropout = static_cast<real>(o.dropout)},
                random) {}
  Encoded operator()(const data::Sequences& source, Training* training) const override {
    Random* random = random_of(training);
    const nn::Recurrent::Output out =
        layers_(dropout_(SourceWords::seen(words_(source.by_time()), true), random), source.lengths, {}, random);
    const size_t count = out.last.size();
    const Var summary = layers_.options().bidirectional
                            ? concat(std::array{out.last[count - 2].h, out.last[count - 1].h}, 1)
                            : out.last.back().h;
    return {transpose(out.y, 0, 1), summary};
  }
  int64_t output_size() const override { return layers_.options().hidden * (layers_.options().bidirectional ? 2 : 1); }
  void params(const nn::VisitParams& visit) override {
    nn::visit_part(visit, "words", words_);
    nn::visit_part(visit, "layers", layers_);
  }

 private:
  nn::Embedding words_;
  nn::Dropout dropout_;
  nn::Recurrent layers_;
};

class TransformerStack : public Encoder {
 public:
  TransformerStack(const EncoderOptions& o, Random& random)
      : size_(o.size),
        encoder_({.source_vocabulary = o.vocabulary,
                  .size = o.size,
                  .heads = o.heads,
                  .hidden = o.hidden,
                  .encoder_layers = o.layers,
                  .dropout = o.dropout},
                 random) {}
  Encoded operator()(const data::Sequences& source, Training* training) const override {
    const Var states = encoder_(source, training);
    const int64_t B = states.dim(0), T = states.dim(1);
    Tensor share = Tensor::zeros({B, 1, T});  // 1/length within each sequence
    for (int64_t b = 0; b < B; ++b) {
      const int32_t length = source.lengths[static_cast<size_t>(b)];
      std::fill_n(share.data() + b * T, length, 1 / static_cast<real>(length));
    }
    return {states, reshape(batched_matmul(share, states), {B, size_})};
  }
  int64_t output_size() const override { return size_; }
  void params(const nn::VisitParams& visit) override { encoder_.params(visit); }

 private:
  int64_t size_;
  TransformerEncoder encoder_;
};

class IntraEncoder : public Encoder {
 public:
  IntraEncoder(const EncoderOptions& o, Random& random)
      : words_(require_size("vocabulary", o.vocabulary), o.size, random), dropout_(static_cast<real>(o.dropout)) {
    for (int64_t i = 0; i < require_size("layers", o.layers); ++i) layers_.emplace_back(o.size, o.size, random);
    size_ = o.size;
  }
  Encoded operator()(const data::Sequences& source, Training* training) const override {
    IntraLstm::Output out{SourceWords::seen(words_(source.by_time()), true), {}};
    for (const IntraLstm& layer : layers_) out = layer(dropout_(out.y, random_of(training)), source.lengths);
    return {transpose(out.y, 0, 1), out.last};
  }
  int64_t output_size() const override { return size_; }
  void params(const nn::VisitParams& visit) override {
    nn::visit_part(visit, "words", words_);
    for (size_t i = 0; i < layers_.size(); ++i) nn::visit_part(visit, std::to_string(i), layers_[i]);
  }

 private:
  nn::Embedding words_;
  nn::Dropout dropout_;
  std::vector<IntraLstm> layers_;
  int64_t size_ = 0;
};

template <class Kind>
std::unique_ptr<Encoder> make(const EncoderOptions& options, Random& random) {
  return std::make_unique<Kind>(options, random);
}

constexpr EncoderRow kEncoders[] = {
    {"recurrent", "hₜ = f(xₜ, hₜ₋₁), both ways", "Graves & Schmidhuber 2005", make<RecurrentEncoder>},
    {"transformer", "blocks of self-attention", "Vaswani et al. 2017", make<TransformerStack>},
    {"intra", "hₜ = f(xₜ, Σ αₜᵢ hᵢ) over its own past", "Cheng et al. 2016", make<IntraEncoder>},
};

}  // namespace

std::span<const EncoderRow> encoders() { return kEncoders; }

std::unique_ptr<Encoder> make_encoder(const EncoderOptions& options, Random& random) {
  return row_named("encoder", kEncoders, options.kind).make(options, random);
}

}  // namespace attend::models
