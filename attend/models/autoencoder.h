// The autoencoder: an image through a bottleneck and back (Hinton & Salakhutdinov 2006), and the variational one, whose codes
// are drawn (Kingma & Welling 2014).
#pragma once

#include <memory>

#include "attend/models/image_encoder.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct AutoencoderOptions {
  ImageEncoderOptions encoder{.kind = "dense", .channels = 1, .height = 28, .width = 28, .stages = "512,128"};
  int64_t code = 32;
  std::string decoder = "128,512";
  std::string loss = "cross_entropy";
  bool variational = false;
  double divergence = 1;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("encoder", encoder, "");
    visit("code", code, "numbers in the bottleneck", bounds::width());
    visit("decoder", decoder, "widths of the layers from the bottleneck to the pixels", bounds::widths());
    visit("loss", loss, "cross_entropy of each pixel as a probability, or squared: its error",
          bounds::one_of({"cross_entropy", "squared"}));
    visit("variational", variational,
          "codes are drawn from a normal distribution for each image, which is kept near the standard one, so that "
          "what is "
          "decoded from random codes looks like an image");
    visit("divergence", divergence,
          "variational: how much being unlike the standard normal distribution costs; 1: the bound "
          "on the likelihood",
          bounds::at_least(0));
  }
};

/// code = W·encoder(x) + b;  x̂ = σ(decoder(code)), through relu layers. The loss is the mean over pixels of
/// −x·ln x̂ − (1−x)·ln(1−x̂), or of (x − x̂)². Targets are not read: it produces no words.
///
/// Variational: [μ; ln σ²] = W·encoder(x) + b; training decodes μ + σ∘ε with ε drawn from N(0,I), everything else decodes μ.
/// The loss has β·KL(N(μ,σ²)‖N(0,I))/pixels more, KL = ½Σ(μ² + σ² − 1 − ln σ²): with β = `divergence` = 1 and cross_entropy
/// the negative bound on ln p(x), per pixel (Kingma & Welling 2014, eq. 10; β: Higgins et al. 2017).
class Autoencoder : public Model {
 public:
  Autoencoder(const AutoencoderOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  Var loss(const data::Batch& batch, Training* training) const override;
  /// Throws Error: its answer is an image (reconstruct).
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return 0; }

  /// images [B,C,H,W] → [B,code]; variational: μ.
  Tensor code(const Tensor& images) const;
  /// [B,code] → [B,C,H,W], each pixel in 0 … 1.
  Tensor decode(const Tensor& codes) const;
  /// Both.
  Tensor reconstruct(const Tensor& images) const { return decode(code(images)); }

 private:
  /// What the bottleneck gives: codes [B,code]; variational: μ and ln σ² [B,2·code].
  Var bottleneck_of(const data::Source& source, Training* training) const;
  Var mean_of(const Var& bottleneck) const;

  AutoencoderOptions options_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<nn::Linear> bottleneck_;
  std::unique_ptr<nn::Mlp> decoder_;
};

}  // namespace attend::models
