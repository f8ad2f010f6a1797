#include "attend/models/autoencoder.h"

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"

namespace attend::models {
namespace {

/// −x·ln σ(l) − (1−x)·ln(1−σ(l)) = max(l, 0) − l·x + ln(1 + e^(−|l|)), which no l overflows.
Var pixel_cross_entropy(const Var& logits, const Var& pixels) {
  const Var positive = relu(logits), size = add(positive, relu(-logits));
  return add(subtract(positive, multiply(logits, pixels)), log(affine(exp(-size), 1, 1)));
}

Var squared_error(const Var& logits, const Var& pixels) {
  const Var error = subtract(sigmoid(logits), pixels);
  return multiply(error, error);
}

struct PixelLossRow {
  std::string_view name;
  Var (*of)(const Var& logits, const Var& pixels);
};
constexpr PixelLossRow kPixelLosses[] = {{"cross_entropy", pixel_cross_entropy}, {"squared", squared_error}};

int64_t pixels_of(const ImageEncoderOptions& o) { return o.channels * o.height * o.width; }

/// ε ~ N(0,I).
Tensor standard_normal(const Shape& shape, Random& random) {
  Tensor noise(shape);
  for (real& x : noise.values()) x = static_cast<real>(random.normal());
  return noise;
}

/// ½Σ(μ² + σ² − 1 − ln σ²), the mean over images: [B,code] twice → scalar.
Var divergence_from_standard(const Var& mu, const Var& log_variance) {
  const Var each = add(multiply(mu, mu), subtract(affine(exp(log_variance), 1, -1), log_variance));
  return affine(sum(each), real(0.5) / static_cast<real>(mu.shape()[0]));
}

}  // namespace

Autoencoder::Autoencoder(const AutoencoderOptions& options, Random& random) : options_(options) {
  row_named("loss", kPixelLosses, options.loss);
  const ImageEncoderOptions& o = options.encoder;
  require(o.height >= 1 && o.width >= 1,
          "autoencoder: needs the size of the images; set encoder.height and encoder.width");
  encoder_ = make_encoder(o, random);
  bottleneck_ =
      std::make_unique<nn::Linear>(image_vector_size("autoencoder", o, *encoder_, true),
                                   require_size("code", options.code) * (options.variational ? 2 : 1), random);
  std::vector<int64_t> sizes = widths_of("decoder", options.decoder);
  sizes.insert(sizes.begin(), options.code);
  sizes.push_back(pixels_of(o));
  decoder_ = std::make_unique<nn::Mlp>(sizes, Activation::relu, random);
}

void Autoencoder::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", *encoder_);
  nn::visit_part(visit, "bottleneck", *bottleneck_);
  nn::visit_part(visit, "decoder", *decoder_);
}

Var Autoencoder::bottleneck_of(const data::Source& source, Training* training) const {
  return (*bottleneck_)(image_vector((*encoder_)(source, training), true));
}

Var Autoencoder::mean_of(const Var& bottleneck) const {
  return options_.variational ? slice(bottleneck, 1, 0, options_.code) : bottleneck;
}

Var Autoencoder::loss(const data::Batch& batch, Training* training) const {
  refuse_own_words("autoencoder", training);
  const int64_t pixels = pixels_of(options_.encoder);
  const Var bottleneck = bottleneck_of(batch.source, training), mu = mean_of(bottleneck);
  const auto paid = [&](const Var& code) {
    const Tensor wanted = batch.source.pixels().reshape({batch.source.count(), pixels});
    return mean(row_named("loss", kPixelLosses, options_.loss).of((*decoder_)(code), wanted));
  };
  if (!options_.variational) return paid(mu);
  const Var log_variance = slice(bottleneck, 1, options_.code, 2 * options_.code);
  const Var divergence = divergence_from_standard(mu, log_variance);
  Var code = mu;
  if (training) {
    const Var sigma = exp(affine(log_variance, real(0.5)));
    code = add(mu, multiply(sigma, standard_normal(mu.shape(), training->random)));
  }
  return add(paid(code), affine(divergence, static_cast<real>(options_.divergence / static_cast<double>(pixels))));
}

Tensor Autoencoder::code(const Tensor& images) const {
  const TapePause pause;
  return mean_of(bottleneck_of(data::Source::of_images(images), nullptr)).value();
}

Tensor Autoencoder::decode(const Tensor& codes) const {
  const TapePause pause;
  require(codes.defined() && codes.rank() == 2 && codes.dim(1) == options_.code, "autoencoder: expected codes [B,",
          options_.code, "], got ", codes.shape());
  const ImageEncoderOptions& o = options_.encoder;
  return sigmoid((*decoder_)(codes)).value().reshape({codes.dim(0), o.channels, o.height, o.width});
}

std::unique_ptr<State> Autoencoder::begin(const data::Source&) const {
  fail("autoencoder: it answers with an image, not with words; ask for it with reconstruct");
}

Tensor Autoencoder::next(State&, std::span<const int32_t>) const {
  fail("autoencoder: it answers with an image, not with words; ask for it with reconstruct");
}

}  // namespace attend::models
