#include "attend/models/encoder.h"

#include <algorithm>
#include <optional>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/parts.h"
#include "attend/kernels/rows.h"
#include "attend/models/image_encoder.h"
#include "attend/models/intra.h"
#include "attend/models/recurrent_encoder.h"
#include "attend/models/rows.h"
#include "attend/models/sound_encoder.h"
#include "attend/models/source_words.h"
#include "attend/models/text_convolution.h"
#include "attend/models/transformer.h"

namespace attend::models {
namespace {

/// No encoder: the words themselves are the states, for a decoder that picks one of them.
class WordsAlone : public Encoder {
 public:
  WordsAlone(const EncoderOptions& o, Random& random)
      : words_(words_of(o), random),
        size_(words_.size()),
        positions_(positions_of(o.positions == "auto" ? "none" : o.positions, o.longest, size_, random)),
        longest_(o.positions == "learned" ? o.longest : 0),
        dropout_(static_cast<real>(o.dropout)) {}
  static std::unique_ptr<Encoder> make(const EncoderOptions& options, Random& random) {
    return std::make_unique<WordsAlone>(options, random);
  }
  Encoded operator()(const data::Source& source, Training* training) const override {
    require_not_empty("encoder", source);
    const Var words = SourceWords::seen(words_(source, training, false), false);
    Encoded encoded;
    encoded.states = dropout_(positions_ ? (*positions_)(words) : words, random_of(training));
    encoded.lengths = source.lengths();
    encoded.summary = mean_state(encoded.states, encoded.lengths);
    return encoded;
  }
  EncodedSizes sizes() const override { return {.states = size_}; }
  int64_t longest() const override { return longest_; }
  Var word_table() const override { return words_.table(); }
  void params(const nn::VisitParams& visit) override {
    nn::visit_part(visit, "words", words_);
    if (positions_) nn::visit_part(visit, "positions", *positions_);
  }

 private:
  SourceEmbedding words_;
  int64_t size_;
  std::optional<nn::Positions> positions_;
  int64_t longest_;
  nn::Dropout dropout_;
};

/// Another encoder over all texts of a source as one.
class JoinedTexts : public Encoder {
 public:
  explicit JoinedTexts(std::unique_ptr<Encoder> encoder) : encoder_(std::move(encoder)) {}
  Encoded operator()(const data::Source& source, Training* training) const override {
    return (*encoder_)(data::joined_texts(source), training);
  }
  EncodedSizes sizes() const override { return encoder_->sizes(); }
  void params(const nn::VisitParams& visit) override { encoder_->params(visit); }
  int64_t longest() const override { return encoder_->longest(); }
  Var word_table() const override { return encoder_->word_table(); }
  const TokenEmbedding* tokens() const override { return encoder_->tokens(); }

 private:
  std::unique_ptr<Encoder> encoder_;
};

constexpr EncoderRow kEncoders[] = {
    {"recurrent", "hₜ = f(xₜ, hₜ₋₁), both ways", "Graves & Schmidhuber 2005", RecurrentEncoder::make, nullptr,
     make_recurrent_listener},
    {"transformer", "blocks of self-attention", "Vaswani et al. 2017", TransformerEncoder::make, nullptr,
     make_sound_transformer},
    {"listener", "a pyramid over frames: hₜ = f([h′₂ₜ; h′₂ₜ₊₁], hₜ₋₁), both ways", "Chan et al. 2016", nullptr, nullptr,
     make_listener},
    {"intra", "hₜ = f(xₜ, Σ αₜᵢ hᵢ) over its own past", "Cheng et al. 2016", IntraEncoder::make, nullptr, nullptr},
    {"none", "x: the words themselves, or the cells of an image that is a grid of features already", "",
     WordsAlone::make, make_given_grid, nullptr, true},
    {"convolutional",
     "relu(W ∗ x + b): windows of several widths over words; over images stages, each half the size of the "
     "one before",
     "LeCun et al. 1989; Kim 2014; Simonyan & Zisserman 2015", TextConvolution::make, make_convolutional_encoder,
     nullptr, true},
    {"resnet18", "relu(x + W ∗ relu(V ∗ x)), 18 layers, trained by others", "He et al. 2016", nullptr,
     make_pretrained_encoder, nullptr, true},
    {"resnet34", "the same, 34 layers", "He et al. 2016", nullptr, make_pretrained_encoder, nullptr, true},
    {"resnet50", "the same of three convolutions each, the outer two 1×1; 50 layers", "He et al. 2016", nullptr,
     make_pretrained_encoder, nullptr, true},
    {"efficientnet-lite0", "wider by 1×1, each channel by itself, narrower by 1×1; trained by others",
     "Tan & Le 2019; Liu 2020", nullptr, make_pretrained_encoder, nullptr, true},
    {"efficientnet-lite1", "the same, deeper by 1.1", "Tan & Le 2019; Liu 2020", nullptr, make_pretrained_encoder,
     nullptr, true},
    {"efficientnet-lite2", "the same, deeper by 1.2, wider by 1.1", "Tan & Le 2019; Liu 2020", nullptr,
     make_pretrained_encoder, nullptr, true},
    {"efficientnet-lite3", "the same, deeper by 1.4, wider by 1.2", "Tan & Le 2019; Liu 2020", nullptr,
     make_pretrained_encoder, nullptr, true},
    {"efficientnet-lite4", "the same, deeper by 1.8, wider by 1.4", "Tan & Le 2019; Liu 2020", nullptr,
     make_pretrained_encoder, nullptr, true},
    {"dense", "relu(W·x + b) of all pixels, without a grid", "Rumelhart et al. 1986", nullptr, make_dense_encoder,
     nullptr},
};

[[noreturn]] void refuse_kind(const char* reads, const std::string& kind, bool (*fits)(const EncoderRow& row)) {
  std::string names;
  for (const EncoderRow& row : kEncoders) {
    if (fits(row)) names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  fail_option("encoder.kind", kind, " does not read ", reads, "; choose one of ", names);
}

}  // namespace

std::span<const EncoderRow> encoders() { return kEncoders; }

const EncoderRow& encoder_row(std::string_view name) { return row_named("encoder.kind", kEncoders, name); }

std::unique_ptr<Encoder> make_encoder(const EncoderOptions& options, Random& random) {
  const EncoderRow& row = encoder_row(options.kind);
  if (!row.of_text) refuse_kind("text", options.kind, [](const EncoderRow& one) { return one.of_text != nullptr; });
  return row.of_text(options, random);
}

std::unique_ptr<Encoder> make_encoder(const SequenceEncoderOptions& options, Random& random) {
  const EncoderRow& row = encoder_row(options.kind);
  if (row.of_sound && !row.of_text) require_size("encoder.features", options.features);
  if (options.features == 0) return make_encoder(static_cast<const EncoderOptions&>(options), random);
  if (!row.of_sound) refuse_kind("sound", options.kind, [](const EncoderRow& one) { return one.of_sound != nullptr; });
  return row.of_sound(options, random);
}

std::unique_ptr<Encoder> make_encoder(const ImageEncoderOptions& options, Random& random) {
  const EncoderRow& row = encoder_row(options.kind);
  if (!row.of_images) {
    refuse_kind("images", options.kind, [](const EncoderRow& one) { return one.of_images != nullptr; });
  }
  return row.of_images(options, random);
}

std::unique_ptr<Encoder> of_texts(int64_t texts, std::unique_ptr<Encoder> encoder) {
  return texts > 1 ? std::make_unique<JoinedTexts>(std::move(encoder)) : std::move(encoder);
}

Var mean_state(const Var& states, std::span<const int32_t> lengths) {
  const int64_t B = states.dim(0), T = states.dim(1);
  Tensor share = Tensor::zeros({B, 1, T});  // 1/length within each source
  for (int64_t b = 0; b < B; ++b) {
    const int64_t length = lengths.empty() ? T : lengths[static_cast<size_t>(b)];
    std::fill_n(share.data() + b * T, length, 1 / static_cast<real>(length));
  }
  return reshape(batched_matmul(share, states), {B, states.dim(2)});
}

Var max_state(const Var& states, std::span<const int32_t> lengths) {
  if (lengths.empty()) return max(states, 1);
  const int64_t B = states.dim(0), T = states.dim(1);
  Tensor outside = Tensor::zeros({B, T, 1});  // far below every state beyond the end of a source
  for (int64_t b = 0; b < B; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)];
    std::fill(outside.data() + b * T + length, outside.data() + (b + 1) * T, kernels::kMaskedLog);
  }
  return max(add(states, outside), 1);
}

}  // namespace attend::models
