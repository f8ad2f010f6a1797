#include "attend/models/image_networks.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"

namespace attend::models {
namespace {

using kernels::ChainStep;
using Follows = ChainStep::Follows;

constexpr int64_t kLeastChannels = 8;

/// Adds layers to a network; what a layer reads is told by the number of the value: 0 is the image, i + 1 what layer i gives.
class NetworkMaker {
 public:
  NetworkMaker(const ImageNetworkRow& row, int64_t narrow, bool same) : narrow_(narrow), same_(same) {
    network_.row = &row;
  }

  size_t last() const { return network_.layers.size(); }
  size_t channels(size_t value) const { return value == 0 ? 3 : network_.layers[value - 1].step.outputs; }
  int64_t narrowed(int64_t channels) const {
    return narrow_ == 1 ? channels : std::max(kLeastChannels, channels / narrow_);
  }
  void begin_stage() { ++stage_; }

  struct Wanted {
    size_t from, outputs, kernel = 1, stride = 1;
    Follows follows = Follows::nothing;
    size_t added = 0;
    bool depthwise = false;
  };
  size_t convolve(const std::string& convolution, const std::string& norm, const Wanted& w) {
    add({.convolution = convolution, .norm = norm, .step = step_of(w), .stage = stage_});
    return last();
  }
  size_t pool(size_t from, size_t kernel, size_t stride) {
    ChainStep step = step_of({.from = from, .outputs = channels(from), .kernel = kernel, .stride = stride});
    step.kind = ChainStep::Kind::max_pool;
    add({.step = step, .stage = stage_});
    return last();
  }
  ImageNetwork take(std::vector<std::string> classifier) {
    network_.classifier = std::move(classifier);
    return std::move(network_);
  }

 private:
  ChainStep step_of(const Wanted& w) const {
    return {.kind = w.depthwise ? ChainStep::Kind::depthwise : ChainStep::Kind::convolution,
            .from = w.from,
            .added = w.added,
            .channels = channels(w.from),
            .outputs = w.outputs,
            .kernel = w.kernel,
            .stride = w.stride,
            .same = same_,
            .follows = w.follows};
  }
  void add(ImageLayer layer) { network_.layers.push_back(std::move(layer)); }

  int64_t narrow_;
  bool same_;
  int64_t stage_ = 0;
  ImageNetwork network_;
};

/// He et al. 2016 with the stride of a bottleneck in its 3×3, as torchvision has it; its names.
ImageNetwork make_resnet(const ImageNetworkRow& row, int64_t narrow, bool bottleneck) {
  NetworkMaker net(row, narrow, false);
  const auto width = [&](int64_t channels) { return static_cast<size_t>(net.narrowed(channels)); };
  size_t x = net.convolve("conv1", "bn1",
                          {.from = 0, .outputs = width(64), .kernel = 7, .stride = 2, .follows = Follows::relu});
  x = net.pool(x, 3, 2);
  for (size_t stage = 0; stage < row.blocks.size(); ++stage) {
    net.begin_stage();
    const size_t inner = width(int64_t{64} << stage), outer = bottleneck ? 4 * inner : inner;
    for (int64_t block = 0; block < row.blocks[stage]; ++block) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(block) + ".";
      const size_t stride = block == 0 && stage > 0 ? 2 : 1;
      size_t added = x, y = x;
      const auto convolve = [&](int i, size_t kernel, size_t step, size_t outputs, Follows follows, size_t add) {
        const std::string number = std::to_string(i);
        y = net.convolve(
            name + "conv" + number, name + "bn" + number,
            {.from = y, .outputs = outputs, .kernel = kernel, .stride = step, .follows = follows, .added = add});
      };
      if (stride != 1 || net.channels(x) != outer) {
        added =
            net.convolve(name + "downsample.0", name + "downsample.1", {.from = x, .outputs = outer, .stride = stride});
      }
      if (bottleneck) {
        convolve(1, 1, 1, inner, Follows::relu, 0);
        convolve(2, 3, stride, inner, Follows::relu, 0);
        convolve(3, 1, 1, outer, Follows::relu, added);
      } else {
        convolve(1, 3, stride, inner, Follows::relu, 0);
        convolve(2, 3, 1, outer, Follows::relu, added);
      }
      x = y;
    }
  }
  return net.take({"fc.weight", "fc.bias"});
}

ImageNetwork make_basic_resnet(const ImageNetworkRow& row, int64_t narrow) { return make_resnet(row, narrow, false); }
ImageNetwork make_bottleneck_resnet(const ImageNetworkRow& row, int64_t narrow) {
  return make_resnet(row, narrow, true);
}

/// Repeated blocks of EfficientNet (Tan & Le 2019, table 1).
struct Repeated {
  int64_t repeats;
  size_t kernel, stride, expand;
  int64_t outputs;
};
constexpr Repeated kRepeated[] = {{1, 3, 1, 1, 16},  {2, 3, 2, 6, 24},  {2, 5, 2, 6, 40}, {3, 3, 2, 6, 80},
                                  {3, 5, 1, 6, 112}, {4, 5, 2, 6, 192}, {1, 3, 1, 6, 320}};
constexpr int64_t kStem = 32, kHead = 1280;

/// Rounded to a multiple of 8, which loses at most a tenth.
int64_t widened(int64_t channels, double wide) {
  const double exact = static_cast<double>(channels) * wide;
  int64_t rounded = std::max<int64_t>(8, static_cast<int64_t>(exact + 4) / 8 * 8);
  if (static_cast<double>(rounded) < 0.9 * exact) rounded += 8;
  return rounded;
}

/// The lites have no squeeze-and-excitation, ReLU6 for Swish, and a stem and a head of fixed width; names of the package
/// efficientnet_lite_pytorch. Padding is TensorFlow's ("same"), for the size that is read.
ImageNetwork make_efficientnet_lite(const ImageNetworkRow& row, int64_t narrow) {
  NetworkMaker net(row, narrow, true);
  const auto width = [&](int64_t channels) { return static_cast<size_t>(net.narrowed(channels)); };
  size_t x = net.convolve("_conv_stem", "_bn0",
                          {.from = 0, .outputs = width(kStem), .kernel = 3, .stride = 2, .follows = Follows::relu6});
  int64_t number = 0;
  for (size_t stage = 0; stage < std::size(kRepeated); ++stage) {
    net.begin_stage();
    const Repeated& kind = kRepeated[stage];
    const bool fixed = stage == 0 || stage + 1 == std::size(kRepeated);
    const auto repeats = static_cast<int64_t>(std::ceil(row.deep * static_cast<double>(kind.repeats)));
    const size_t outputs = width(widened(kind.outputs, row.wide));
    for (int64_t block = 0; block < (fixed ? kind.repeats : repeats); ++block) {
      const std::string name = "_blocks." + std::to_string(number++) + ".";
      const size_t stride = block == 0 ? kind.stride : 1, hidden = net.channels(x) * kind.expand;
      size_t y = x;
      if (kind.expand > 1) {
        y = net.convolve(name + "_expand_conv", name + "_bn0",
                         {.from = x, .outputs = hidden, .follows = Follows::relu6});
      }
      y = net.convolve(name + "_depthwise_conv", name + "_bn1",
                       {.from = y,
                        .outputs = hidden,
                        .kernel = kind.kernel,
                        .stride = stride,
                        .follows = Follows::relu6,
                        .depthwise = true});
      const bool adds = stride == 1 && net.channels(x) == outputs;
      x = net.convolve(name + "_project_conv", name + "_bn2", {.from = y, .outputs = outputs, .added = adds ? x : 0});
    }
  }
  net.begin_stage();
  net.convolve("_conv_head", "_bn1", {.from = x, .outputs = width(kHead), .follows = Follows::relu6});
  return net.take({"_fc.weight", "_fc.bias"});
}

constexpr std::array<double, 3> kImageNetMean{0.485, 0.456, 0.406}, kImageNetDeviation{0.229, 0.224, 0.225};
// 127 and 128 of 255.
constexpr std::array<double, 3> kLiteMean{127.0 / 255, 127.0 / 255, 127.0 / 255};
constexpr std::array<double, 3> kLiteDeviation{128.0 / 255, 128.0 / 255, 128.0 / 255};
constexpr std::string_view kHe = "He et al. 2016", kTan = "Tan & Le 2019";

constexpr ImageNetworkRow resnet(std::string_view name, ImageNetwork (*make)(const ImageNetworkRow&, int64_t),
                                 std::array<int64_t, 4> blocks) {
  return {name, kHe, make, kImageNetMean, kImageNetDeviation, 1e-5, 4, blocks};
}
constexpr ImageNetworkRow lite(std::string_view name, double wide, double deep) {
  return {name, kTan, make_efficientnet_lite, kLiteMean, kLiteDeviation, 1e-3, 7, {}, wide, deep};
}

constexpr ImageNetworkRow kImageNetworks[] = {
    resnet("resnet18", make_basic_resnet, {2, 2, 2, 2}),
    resnet("resnet34", make_basic_resnet, {3, 4, 6, 3}),
    resnet("resnet50", make_bottleneck_resnet, {3, 4, 6, 3}),
    lite("efficientnet-lite0", 1, 1),
    lite("efficientnet-lite1", 1, 1.1),
    lite("efficientnet-lite2", 1.1, 1.2),
    lite("efficientnet-lite3", 1.2, 1.4),
    lite("efficientnet-lite4", 1.4, 1.8),
};

}  // namespace

Shape ImageLayer::weight_shape() const {
  const auto extent = [](size_t n) { return static_cast<int64_t>(n); };
  const bool depthwise = step.kind == ChainStep::Kind::depthwise;
  return {extent(step.outputs), depthwise ? 1 : extent(step.channels), extent(step.kernel), extent(step.kernel)};
}

size_t ImageNetwork::end_of(int64_t stage) const {
  const auto later = [&](const ImageLayer& layer) { return layer.stage > stage; };
  return static_cast<size_t>(std::ranges::find_if(layers, later) - layers.begin());
}

std::span<const ImageNetworkRow> image_networks() { return kImageNetworks; }

const ImageNetworkRow* find_image_network(std::string_view name) {
  const auto found = std::ranges::find(kImageNetworks, name, &ImageNetworkRow::name);
  return found == std::end(kImageNetworks) ? nullptr : found;
}

ImageNetwork make_image_network(const ImageNetworkRow& row, int64_t narrow) {
  require(narrow >= 1, "image network: expected widths divided by at least 1, got ", narrow);
  return row.make(row, narrow);
}

}  // namespace attend::models
