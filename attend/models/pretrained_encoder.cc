#include "attend/models/pretrained_encoder.h"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/models/image_cells.h"
#include "attend/models/image_networks.h"
#include "attend/models/rows.h"
#include "attend/models/source_images.h"
#include "attend/nn/initial.h"

namespace attend::models {
namespace {

using kernels::ChainStep;
using Kind = ChainStep::Kind;
using Follows = ChainStep::Follows;

const ImageNetworkRow& network_row(const ImageEncoderOptions& o) {
  const ImageNetworkRow* row = find_image_network(o.kind);
  require(row != nullptr, "encoder.kind: expected a published network, got ", o.kind);
  return *row;
}

/// The network up to the stage whose grid is wanted.
ImageNetwork cut_network(const ImageEncoderOptions& o) {
  ImageNetwork network = make_image_network(network_row(o), o.narrow);
  const int64_t last = network.last_stage(), stage = o.stage == 0 ? network.row->grid_stage : o.stage;
  require_option(stage >= 1 && stage <= last, "stage", "expected a stage of ", o.kind, ", 1 to ", last, ", got ",
                 o.stage);
  network.layers.resize(network.end_of(stage));
  return network;
}

/// x with zeros around it, as `tall` and `wide` say.
Var padded(Var x, const kernels::Padding& tall, const kernels::Padding& wide) {
  const auto around = [&x](int axis, const kernels::Padding& padding) {
    std::vector<Var> parts;
    const auto zeros = [&](size_t count) {
      if (count == 0) return;
      std::vector<int64_t> extents{x.dim(0), x.dim(1), x.dim(2), x.dim(3)};
      extents[static_cast<size_t>(axis)] = static_cast<int64_t>(count);
      parts.push_back(Tensor::zeros({extents[0], extents[1], extents[2], extents[3]}));
    };
    zeros(padding.before), parts.push_back(x), zeros(padding.after);
    if (parts.size() > 1) x = concat(parts, axis);
  };
  around(2, tall), around(3, wide);
  return x;
}

Var convolved(const ChainStep& s, const Var& x, const Var& weight, const Var& bias) {
  if (s.kind == Kind::depthwise) return depthwise_conv2d(x, weight, bias, static_cast<int64_t>(s.stride));
  const auto stride = static_cast<int64_t>(s.stride);
  if (!s.same || s.kernel == 1) return conv2d(x, weight, bias, {stride, static_cast<int64_t>(s.kernel / 2)});
  const auto padding = [&](int axis) {
    return kernels::padding_of(static_cast<size_t>(x.dim(axis)), s.kernel, s.stride, true);
  };
  return conv2d(padded(x, padding(2), padding(3)), weight, bias, {stride, 0});
}

Var followed(Follows follows, const Var& x) {
  return follows == Follows::relu ? relu(x) : follows == Follows::relu6 ? relu6(x) : x;
}

class PretrainedEncoder : public Encoder {
 public:
  PretrainedEncoder(const ImageEncoderOptions& o, Random& random)
      : options_(o), network_(cut_network(o)), cells_(o, size(), random) {
    require_option(o.channels == 3, "channels", "expected 3: ", o.kind, " reads red, green and blue, got ", o.channels);
    const int64_t stage = network_.last_stage();
    require_option(o.train_stages <= stage + 1, "train_stages", "expected at most the ", stage + 1,
                   " stages that there are, the stem included, got ", o.train_stages);
    trained_ = o.train_stages == 0 ? network_.layers.size() : network_.end_of(stage - o.train_stages);
    std::optional<nn::Blank> blank;
    if (!o.weights.empty()) blank.emplace();
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      const ImageLayer& layer = network_.layers[i];
      const auto kept = [&](Tensor value) {
        return i < trained_ ? Var(std::move(value)) : Var::leaf(std::move(value));
      };
      weights_.push_back(layer.has_weights() ? kept(nn::initial("he", layer.weight_shape(), random)) : Var());
      biases_.push_back(layer.has_weights() ? kept(Tensor::zeros({layer.weight_shape()[0]})) : Var());
    }
    for (size_t c = 0; c < 3; ++c) {
      scale_.data()[c] = static_cast<real>(1 / network_.row->deviation[c]);
      shift_.data()[c] = static_cast<real>(-network_.row->mean[c] / network_.row->deviation[c]);
    }
  }

  Encoded operator()(const data::Source& source, Training* training) const override {
    const Tensor& given = source.pixels();
    if (given.defined() && given.rank() == 4 && given.dim(1) == size() && trained_ == network_.layers.size()) {
      return cells_(given, training);
    }
    return cells_(grid(require_images("encoder", source, options_.channels, options_.height, options_.width)),
                  training);
  }
  EncodedSizes sizes() const override { return {.states = size()}; }
  void params(const nn::VisitParams& visit) override {
    forget_chains();  // whoever sees the weights may change them
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      const ImageLayer& layer = network_.layers[i];
      if (!layer.has_weights()) continue;
      visit(layer.convolution + ".weight", weights_[i]);
      visit(layer.convolution + ".bias", biases_[i]);
    }
    cells_.params(visit);
  }

  /// Channels [B,D,h,w] of images [B,3,H,W].
  Var grid(const Tensor& images) const {
    require(images.dim(2) >= 1 && images.dim(3) >= 1, "encoder: expected images with pixels, got ", images.shape());
    const Var x = normalised(SourceImages::pixels(images));
    if (recording(x)) return composed(x, 0);
    const bool learns = trained_ < network_.layers.size() && recording(weights_.back());
    return learns ? composed(chained(x.value(), trained_), trained_) : Var(chained(x.value(), network_.layers.size()));
  }

 private:
  int64_t size() const { return static_cast<int64_t>(network_.layers.back().step.outputs); }

  Var normalised(const Var& x) const { return add(multiply(x, scale_), shift_); }

  /// The layers from `begin` on, one op after the other: with gradients, and for builds without fused kernels.
  Var composed(const Var& x, size_t begin) const { return composed(x, begin, network_.layers.size()); }
  Var composed(const Var& x, size_t begin, size_t end) const {
    std::vector<Var> values(network_.layers.size() + 1);
    values[begin] = x;
    for (size_t i = begin; i < end; ++i) {
      const ChainStep& s = network_.layers[i].step;
      if (s.kind == Kind::max_pool) {
        values[i + 1] = max_pool2d(values[s.from], {static_cast<int64_t>(s.kernel), static_cast<int64_t>(s.stride),
                                                    static_cast<int64_t>(s.kernel / 2)});
        continue;
      }
      Var y = convolved(s, values[s.from], weights_[i], biases_[i]);
      if (s.added > 0) y = add(y, values[s.added]);
      values[i + 1] = followed(s.follows, y);
    }
    return values[end];
  }

  /// The first `end` layers at once, without gradients.
  Tensor chained(const Tensor& x, size_t end) const {
    if (end == 0) return x;
    const TapePause pause;
    const auto batch = static_cast<size_t>(x.dim(0));
    const auto height = static_cast<size_t>(x.dim(2)), width = static_cast<size_t>(x.dim(3));
    const std::shared_ptr<const kernels::ConvolutionChain> chain = chain_to(end);
    const auto [tall, wide] = chain->extents(height, width);
    Tensor y({x.dim(0), static_cast<int64_t>(network_.layers[end - 1].step.outputs), static_cast<int64_t>(tall),
              static_cast<int64_t>(wide)});
    return (*chain)(batch, height, width, x.data(), y.data()) ? y : composed(x, 0, end).value();
  }

  /// Kept as long as the weights stay as they are: packing them anew takes as long as reading an image.
  struct Chain {
    size_t end = 0;
    std::vector<uint64_t> versions;
    std::shared_ptr<const kernels::ConvolutionChain> chain;
  };

  std::shared_ptr<const kernels::ConvolutionChain> chain_to(size_t end) const {
    std::vector<uint64_t> versions;
    for (size_t i = trained_; i < end; ++i) {
      for (const Var* var : {&weights_[i], &biases_[i]}) versions.push_back(var->version());
    }
    const std::lock_guard guard(lock_);
    for (const Chain& one : chains_) {
      if (one.end == end && one.versions == versions) return one.chain;
    }
    std::vector<ChainStep> steps;
    for (size_t i = 0; i < end; ++i) {
      steps.push_back(network_.layers[i].step);
      steps.back().weight = weights_[i].value().data(), steps.back().bias = biases_[i].value().data();
    }
    std::erase_if(chains_, [&](const Chain& one) { return one.end == end; });
    chains_.push_back({end, std::move(versions), std::make_shared<const kernels::ConvolutionChain>(std::move(steps))});
    return chains_.back().chain;
  }

  void forget_chains() {
    const std::lock_guard guard(lock_);
    chains_.clear();
  }

  ImageEncoderOptions options_;
  ImageNetwork network_;
  ImageCells cells_;
  size_t trained_ = 0;                 // the first layer that is trained; those before it are constants
  std::vector<Var> weights_, biases_;  // of each layer; undefined where it has none
  Tensor scale_{Shape{1, 3, 1, 1}}, shift_{Shape{1, 3, 1, 1}};
  mutable std::mutex lock_;
  mutable std::vector<Chain> chains_;
};

}  // namespace

std::unique_ptr<Encoder> make_pretrained_encoder(const ImageEncoderOptions& options, Random& random) {
  return std::make_unique<PretrainedEncoder>(options, random);
}

GridSize pretrained_grid_size(const ImageEncoderOptions& options, int64_t height, int64_t width) {
  const ImageNetwork network = cut_network(options);
  std::vector<GridSize> sizes{{height, width}};
  for (const ImageLayer& layer : network.layers) {
    const ChainStep& s = layer.step;
    const GridSize from = sizes[s.from];
    const auto windows = [&](int64_t extent) {
      return static_cast<int64_t>(kernels::padding_of(static_cast<size_t>(extent), s.kernel, s.stride, s.same).windows);
    };
    sizes.push_back({windows(from.height), windows(from.width)});
  }
  return sizes.back();
}

bool gives_fixed_grids(const ImageEncoderOptions& options) {
  return find_image_network(options.kind) != nullptr && options.train_stages == 0;
}

Tensor fixed_grids(const Encoder& encoder, const Tensor& images) {
  const auto* pretrained = dynamic_cast<const PretrainedEncoder*>(&encoder);
  require(pretrained != nullptr, "fixed grids: expected a published network as the encoder of images, got another one");
  const TapePause pause;
  return pretrained->grid(images).value();
}

}  // namespace attend::models
