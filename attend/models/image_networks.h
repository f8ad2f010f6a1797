// Published networks of images as lists of convolutions, with the names that their tensors have in published files.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/shape.h"
#include "attend/kernels/convolution_chain.h"

namespace attend::models {

/// A step of such a network: a convolution whose batch norm is folded into it, or a max-pooling, which has no name.
struct ImageLayer {
  std::string convolution;  ///< "layer1.0.conv1": its tensor is "layer1.0.conv1.weight"
  std::string norm;         ///< "layer1.0.bn1": .weight, .bias, .running_mean, .running_var
  kernels::ChainStep step;  ///< without its weights
  int64_t stage = 0;        ///< from 0, the stem; its last layer is what the stage gives

  bool has_weights() const { return !convolution.empty(); }
  Shape weight_shape() const;  ///< [O,C,K,K]; depthwise: [C,1,K,K]
};

struct ImageNetworkRow;

/// The network of that row with all its stages.
struct ImageNetwork {
  const ImageNetworkRow* row = nullptr;
  std::vector<ImageLayer> layers;
  std::vector<std::string> classifier;  ///< tensors of the published file that are not part of an encoder

  int64_t last_stage() const { return layers.back().stage; }
  /// The layers up to the end of that stage.
  size_t end_of(int64_t stage) const;
};

struct ImageNetworkRow {
  std::string_view name, paper;
  /// Its layers, all widths divided by `narrow`.
  ImageNetwork (*make)(const ImageNetworkRow& row, int64_t narrow);
  std::array<double, 3> mean, deviation;  ///< of red, green and blue in 0…1: it reads (x − mean)/deviation
  double epsilon;                         ///< of its batch norm
  int64_t grid_stage;                     ///< the stage whose grid is taken unless another one is asked for
  std::array<int64_t, 4> blocks;          ///< resnet: of each stage
  double wide = 1, deep = 1;              ///< efficientnet: how much wider and deeper than the smallest one
};
std::span<const ImageNetworkRow> image_networks();
/// The row of that name; null if it is no published network.
const ImageNetworkRow* find_image_network(std::string_view name);
ImageNetwork make_image_network(const ImageNetworkRow& row, int64_t narrow);

}  // namespace attend::models
