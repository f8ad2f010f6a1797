// A whole network of convolutions in inference: its numbers stay in oneDNN's layouts from the first layer to the last, and
// what follows a convolution (bias, a sum, max(0, ·)) is part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "attend/base/real.h"

namespace attend::kernels {

/// How many zeros surround an extent, and how many windows it then has.
struct Padding {
  size_t before = 0, after = 0, windows = 0;
};
/// `same`: ⌈extent/stride⌉ windows, as TensorFlow pads; else kernel/2 on both sides.
Padding padding_of(size_t extent, size_t kernel, size_t stride, bool same);

/// y = f(convolution of value `from` + bias + value `added`). Value 0 is the image, value i + 1 what step i gives.
struct ChainStep {
  enum class Kind : uint8_t { convolution, depthwise, max_pool };
  enum class Follows : uint8_t { nothing, relu, relu6 };
  Kind kind = Kind::convolution;
  size_t from = 0, added = 0;  ///< added 0: nothing
  size_t channels = 0, outputs = 0, kernel = 1, stride = 1;
  bool same = false;
  Follows follows = Follows::nothing;
  const real* weight = nullptr;  ///< [O,C,K,K]; depthwise [C,1,K,K]
  const real* bias = nullptr;    ///< [O]
};

class ChainPlans;

class ConvolutionChain {
 public:
  /// The weights are read when they are first needed and must stay as they are.
  explicit ConvolutionChain(std::vector<ChainStep> steps);
  ~ConvolutionChain();
  ConvolutionChain(const ConvolutionChain&) = delete;
  ConvolutionChain& operator=(const ConvolutionChain&) = delete;

  /// Height and width of what it gives for images of this size.
  std::pair<size_t, size_t> extents(size_t height, size_t width) const;
  /// x [B,C,H,W] → y, what the last step gives, [B,O,h,w]. Several threads may call it at the same time. False if this build
  /// has no such kernels: then nothing was done.
  bool operator()(size_t batch, size_t height, size_t width, const real* x, real* y) const;

 private:
  std::unique_ptr<ChainPlans> plans_;
};

}  // namespace attend::kernels
