#include "attend/autograd/ops/convolution.h"

#include <limits>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/depthwise.h"
#include "attend/kernels/group_norm.h"
#include "attend/kernels/onednn.h"

namespace attend {
namespace {

// Far larger than in any network, and small enough that no sum of extents overflows.
constexpr int64_t kMostStep = 1 << 20;

size_t extent(const Tensor& x, int axis) { return static_cast<size_t>(x.dim(axis)); }

void require_images(const char* where, const Var& x) {
  require(x.defined(), where, ": expected images, got an undefined tensor");
  require(x.rank() == 4, where, ": expected images [B, C, H, W], got ", x.shape());
  require(x.dim(1) > 0 && x.dim(2) > 0 && x.dim(3) > 0, where, ": expected images with channels and pixels, got ",
          x.shape());
}

kernels::Conv2d conv2d_geometry(const Var& x, const Var& weight, const Var& bias, const Conv2dOptions& options) {
  require_images("conv2d", x);
  require(weight.defined(), "conv2d: expected a weight, got an undefined tensor");
  require(weight.rank() == 4, "conv2d: expected a weight [O, C, KH, KW], got ", weight.shape());
  require(weight.dim(1) == x.dim(1), "conv2d: the weight must have the ", x.dim(1), " channels of x ", x.shape(),
          ", got ", weight.shape());
  require(weight.size() > 0, "conv2d: expected a weight with elements, got ", weight.shape());
  require(!bias.defined() || bias.shape() == Shape{weight.dim(0)}, "conv2d: the bias must be [", weight.dim(0),
          "] for weight ", weight.shape(), ", got ", bias.shape());
  require(options.stride >= 1 && options.stride <= kMostStep, "conv2d: the stride must be within 1 … ", kMostStep,
          ", got ", options.stride);
  require(options.padding >= 0 && options.padding <= kMostStep, "conv2d: the padding must be within 0 … ", kMostStep,
          ", got ", options.padding);
  require(x.dim(2) + 2 * options.padding >= weight.dim(2) && x.dim(3) + 2 * options.padding >= weight.dim(3),
          "conv2d: x with its padding must be at least as large as the kernel, got x ", x.shape(), ", padding ",
          options.padding, " and weight ", weight.shape());
  const Tensor &image = x.value(), &kernel = weight.value();
  return {.batch = extent(image, 0),
          .channels = extent(image, 1),
          .height = extent(image, 2),
          .width = extent(image, 3),
          .outputs = extent(kernel, 0),
          .kernel_height = extent(kernel, 2),
          .kernel_width = extent(kernel, 3),
          .stride = static_cast<size_t>(options.stride),
          .padding = static_cast<size_t>(options.padding)};
}

kernels::Pool2d pool2d_geometry(const char* where, const Var& x, const Pool2dOptions& options) {
  require_images(where, x);
  require(options.kernel >= 1 && options.kernel <= kMostStep, where, ": the kernel must be within 1 … ", kMostStep,
          ", got ", options.kernel);
  require(options.stride >= 0 && options.stride <= kMostStep, where, ": the stride must be within 0 … ", kMostStep,
          ", got ", options.stride);
  require(options.padding >= 0 && options.padding <= options.kernel / 2, where,
          ": the padding must be within 0 … kernel/2 = ", options.kernel / 2, ", got ", options.padding);
  require(x.dim(2) + 2 * options.padding >= options.kernel && x.dim(3) + 2 * options.padding >= options.kernel, where,
          ": x with its padding must be at least as large as the kernel, got x ", x.shape(), ", padding ",
          options.padding, " and kernel ", options.kernel);
  require(x.shape().inner(1) <= std::numeric_limits<uint32_t>::max(), where,
          ": planes of at most 2^32 − 1 pixels, got ", x.shape());
  const Tensor& image = x.value();
  return {.planes = extent(image, 0) * extent(image, 1),
          .height = extent(image, 2),
          .width = extent(image, 3),
          .kernel = static_cast<size_t>(options.kernel),
          .stride = static_cast<size_t>(options.stride > 0 ? options.stride : options.kernel),
          .padding = static_cast<size_t>(options.padding)};
}

Tensor pooled(const Var& x, const kernels::Pool2d& g) {
  return Tensor({x.dim(0), x.dim(1), static_cast<int64_t>(g.out_height()), static_cast<int64_t>(g.out_width())});
}

}  // namespace

Var conv2d(const Var& x, const Var& weight, const Var& bias, const Conv2dOptions& options) {
  const kernels::Conv2d g = conv2d_geometry(x, weight, bias, options);
  Tensor y({x.dim(0), weight.dim(0), static_cast<int64_t>(g.out_height()), static_cast<int64_t>(g.out_width())});
  kernels::conv2d_forward(g, x.value().data(), weight.value().data(), bias.value().data(), y.data());
  if (!recording(x, weight, bias)) return y;
  return record(std::move(y),
                [x = x.slot(), weight = weight.slot(), bias = bias.slot(), g, x_shape = x.shape(),
                 kept_x = weight.tracked() ? x.value() : Tensor(),
                 kept_weight = x.tracked() ? weight.value() : Tensor(), weight_shape = weight.shape()](Tensor dy) {
                  if (x.needed()) {
                    Tensor dx(x_shape);
                    kernels::conv2d_backward_data(g, dy.data(), kept_weight.data(), dx.data());
                    x.add(std::move(dx));
                  }
                  if (!weight.needed() && !bias.needed()) return;
                  Tensor dweight = weight.needed() ? Tensor(weight_shape) : Tensor();
                  Tensor dbias = bias.needed() ? Tensor({weight_shape[0]}) : Tensor();
                  kernels::conv2d_backward_weights(g, kept_x.data(), dy.data(), dweight.data(), dbias.data());
                  if (weight.needed()) weight.add(std::move(dweight));
                  if (bias.needed()) bias.add(std::move(dbias));
                });
}

Var depthwise_conv2d(const Var& x, const Var& weight, const Var& bias, int64_t stride) {
  require_images("depthwise_conv2d", x);
  const int64_t C = x.dim(1);
  require(weight.defined() && weight.rank() == 4 && weight.dim(0) == C && weight.dim(1) == 1 && weight.dim(2) >= 1 &&
              weight.dim(2) == weight.dim(3) && weight.dim(2) <= kMostStep,
          "depthwise_conv2d: expected a weight [", C, ", 1, K, K] for x ", x.shape(), ", got ",
          weight.defined() ? weight.shape() : Shape{});
  require(!bias.defined() || bias.shape() == Shape{C}, "depthwise_conv2d: the bias must be [", C, "], got ",
          bias.shape());
  require(stride >= 1 && stride <= kMostStep, "depthwise_conv2d: the stride must be within 1 … ", kMostStep, ", got ",
          stride);
  const size_t height = extent(x.value(), 2), width = extent(x.value(), 3), kernel = extent(weight.value(), 2);
  const auto step = static_cast<size_t>(stride);
  const kernels::Depthwise g{.batch = extent(x.value(), 0),
                             .channels = extent(x.value(), 1),
                             .height = height,
                             .width = width,
                             .kernel = kernel,
                             .stride = step,
                             .tall = kernels::padding_of(height, kernel, step, true),
                             .wide = kernels::padding_of(width, kernel, step, true)};
  Tensor y({x.dim(0), C, static_cast<int64_t>(g.out_height()), static_cast<int64_t>(g.out_width())});
  kernels::depthwise_forward(g, x.value().data(), weight.value().data(), bias.value().data(), y.data());
  if (!recording(x, weight, bias)) return y;
  return record(std::move(y),
                [x = x.slot(), weight = weight.slot(), bias = bias.slot(), g, C, x_shape = x.shape(),
                 kept_x = weight.tracked() ? x.value() : Tensor(), kept_weight = x.tracked() ? weight.value() : Tensor(),
                 weight_shape = weight.shape()](Tensor dy) {
                  if (x.needed()) {
                    Tensor dx(x_shape);
                    kernels::depthwise_backward_data(g, dy.data(), kept_weight.data(), dx.data());
                    x.add(std::move(dx));
                  }
                  if (!weight.needed() && !bias.needed()) return;
                  Tensor dweight = weight.needed() ? Tensor(weight_shape) : Tensor();
                  Tensor dbias = bias.needed() ? Tensor({C}) : Tensor();
                  kernels::depthwise_backward_weights(g, kept_x.data(), dy.data(), dweight.data(), dbias.data());
                  if (weight.needed()) weight.add(std::move(dweight));
                  if (bias.needed()) bias.add(std::move(dbias));
                });
}

Var max_pool2d(const Var& x, const Pool2dOptions& options) {
  const kernels::Pool2d g = pool2d_geometry("max_pool2d", x, options);
  Tensor y = pooled(x, g);
  kernels::max_pool2d_forward(g, x.value().data(), y.data());
  if (!recording(x)) return y;
  return record(std::move(y), [x = x.slot(), kept = x.value(), g](Tensor dy) {
    Tensor dx(kept.shape());
    kernels::max_pool2d_backward(g, kept.data(), dy.data(), dx.data());
    x.add(std::move(dx));
  });
}

Var avg_pool2d(const Var& x, const Pool2dOptions& options) {
  const kernels::Pool2d g = pool2d_geometry("avg_pool2d", x, options);
  Tensor y = pooled(x, g);
  kernels::avg_pool2d_forward(g, x.value().data(), y.data());
  if (!recording(x)) return y;
  return record(std::move(y), [x = x.slot(), shape = x.shape(), g](Tensor dy) {
    Tensor dx(shape);
    kernels::avg_pool2d_backward(g, dy.data(), dx.data());
    x.add(std::move(dx));
  });
}

Var group_norm(const Var& x, const Var& gain, const Var& bias, const GroupNormOptions& options) {
  require_images("group_norm", x);
  const int64_t B = x.dim(0), C = x.dim(1);
  require(options.groups >= 1 && C % options.groups == 0, "group_norm: expected groups that divide the ", C,
          " channels, got ", options.groups);
  require(gain.defined() && bias.defined() && gain.shape() == Shape{C} && bias.shape() == Shape{C},
          "group_norm: expected gain and bias [", C, "] for x ", x.shape(), ", got ", gain.shape(), " and ",
          bias.shape());
  const kernels::GroupNorm g{.batch = extent(x.value(), 0),
                             .channels = extent(x.value(), 1),
                             .pixels = extent(x.value(), 2) * extent(x.value(), 3),
                             .groups = static_cast<size_t>(options.groups),
                             .epsilon = options.epsilon,
                             .relu = options.relu};
  Tensor y(x.shape()), mean({B, options.groups}), rstd({B, options.groups});
  kernels::group_norm(g, x.value().data(), gain.value().data(), bias.value().data(), y.data(), mean.data(),
                      rstd.data());
  if (!recording(x, gain, bias)) return y;
  return record(std::move(y), [x = x.slot(), gain = gain.slot(), bias = bias.slot(), g, mean, rstd, input = x.value(),
                               scale = gain.value(), shift = bias.value()](Tensor dy) {
    Tensor dx = x.needed() ? Tensor(input.shape()) : Tensor();
    kernels::group_norm_backward(g, dy.data(), input.data(), scale.data(), shift.data(), mean.data(), rstd.data(),
                                 dx.data(), gain.needed() ? gain.buffer().data() : nullptr,
                                 bias.needed() ? bias.buffer().data() : nullptr);
    if (x.needed()) x.add(std::move(dx));
  });
}

}  // namespace attend
