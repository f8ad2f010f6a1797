#include "attend/explain/image_saliency.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/models/image_classifier.h"
#include "attend/models/source_images.h"

namespace attend::explain {
namespace {

using models::SourceImages;

/// 1 at each row's class: the cotangent of which the gradient is wanted.
Tensor chosen(const Shape& shape, std::span<const int32_t> classes) {
  require(shape.rank() == 2, "image_saliency: expected logits [B,V], got ", shape);
  require(static_cast<int64_t>(classes.size()) == shape[0], "image_saliency: expected one class for each of ", shape[0],
          " images, got ", classes.size());
  Tensor seed = Tensor::zeros(shape);
  for (size_t b = 0; b < classes.size(); ++b) {
    require(classes[b] >= 0 && classes[b] < shape[1], "image_saliency: expected classes within 0 … ", shape[1] - 1,
            ", got ", classes[b]);
    seed.data()[static_cast<int64_t>(b) * shape[1] + classes[b]] = 1;
  }
  return seed;
}

/// Runs forwards and backwards with one scope of SourceImages open. The network's parameters are constants meanwhile.
Tensor backward(const ImageLogits& logits, std::span<const int32_t> classes) {
  const FrozenLeaves frozen;
  Tape tape;
  const Var said = logits();
  const Tensor seed = chosen(said.shape(), classes);
  if (said.tracked()) tape.backward(said, seed);
  return said.value();
}

/// channels and gradient [B,D,h,w] → [B,h,w].
Tensor grad_cam(const Tensor& channels, const Tensor& gradient) {
  const int64_t B = channels.dim(0), D = channels.dim(1), cells = channels.dim(2) * channels.dim(3);
  Tensor cam = Tensor::zeros({B, channels.dim(2), channels.dim(3)});
  for (int64_t b = 0; b < B; ++b) {
    real* out = cam.data() + b * cells;
    for (int64_t d = 0; d < D; ++d) {
      const int64_t at = (b * D + d) * cells;
      real weight = 0;
      for (int64_t i = 0; i < cells; ++i) weight += gradient.data()[at + i];
      weight /= static_cast<real>(cells);
      for (int64_t i = 0; i < cells; ++i) out[i] += weight * channels.data()[at + i];
    }
    for (int64_t i = 0; i < cells; ++i) out[i] = std::max(out[i], real{0});
  }
  return cam;
}

}  // namespace

Seen image_saliency(const ImageLogits& logits, std::span<const int32_t> classes) {
  Seen seen;
  {
    const SourceImages pixels(SourceImages::Look::pixels);
    seen.logits = backward(logits, classes);
    seen.input_gradient = pixels.gradient();
  }
  const SourceImages grid(SourceImages::Look::grid);
  backward(logits, classes);
  if (grid.shown()) seen.cam = grad_cam(grid.value(), grid.gradient());
  return seen;
}

Tensor image_jacobian(const ImageLogits& logits, std::span<const int32_t> classes) {
  constexpr size_t kOutputs = 4;
  const ImageLogits log_p = [&] { return log_softmax(logits()); };
  Tensor said;
  {
    const TapePause pause;
    said = logits().value();
  }
  const Tensor seed = chosen(said.shape(), classes);  // checks them
  const int64_t B = said.dim(0), V = said.dim(1);
  std::vector<std::vector<int32_t>> asked(std::min(kOutputs, static_cast<size_t>(V)),
                                          std::vector<int32_t>(classes.begin(), classes.end()));
  for (int64_t b = 0; b < B; ++b) {
    std::vector<int32_t> others;
    for (int32_t v = 0; v < V; ++v) {
      if (v != classes[static_cast<size_t>(b)]) others.push_back(v);
    }
    std::ranges::stable_sort(others, std::greater<>(), [&](int32_t v) { return said.data()[b * V + v]; });
    for (size_t i = 1; i < asked.size(); ++i) asked[i][static_cast<size_t>(b)] = others[i - 1];
  }
  Tensor squares;
  for (const std::vector<int32_t>& one : asked) {
    const SourceImages pixels(SourceImages::Look::pixels);
    backward(log_p, one);
    const Tensor gradient = pixels.gradient();
    const int64_t C = gradient.dim(1), size = gradient.dim(2) * gradient.dim(3);
    if (!squares.defined()) squares = Tensor::zeros({B, gradient.dim(2), gradient.dim(3)});
    for (int64_t i = 0; i < B * C * size; ++i) {
      squares.data()[i / (C * size) * size + i % size] += gradient.data()[i] * gradient.data()[i];
    }
  }
  for (real& value : squares.values()) value = std::sqrt(value);
  return squares;
}

Seen image_saliency(const models::ImageClassifier& model, const Tensor& images, std::span<const int32_t> classes) {
  const data::Source source = data::Source::of_images(images);
  const auto logits = [&] { return model.logits(source); };
  std::vector<int32_t> likeliest(classes.begin(), classes.end());
  if (classes.empty()) {
    const TapePause pause;
    const Tensor said = logits().value();
    for (int64_t b = 0; b < said.dim(0); ++b) {
      const real* row = said.data() + b * said.dim(1);
      likeliest.push_back(static_cast<int32_t>(std::max_element(row, row + said.dim(1)) - row));
    }
  }
  return image_saliency(logits, likeliest);
}

Tensor pixel_saliency(const Tensor& gradient) {
  require(gradient.rank() == 4, "pixel_saliency: expected gradients [B,C,H,W], got ", gradient.shape());
  const int64_t B = gradient.dim(0), C = gradient.dim(1), pixels = gradient.dim(2) * gradient.dim(3);
  Tensor sums = Tensor::zeros({B, gradient.dim(2), gradient.dim(3)});
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t i = 0; i < C * pixels; ++i) {
      sums.data()[b * pixels + i % pixels] += std::abs(gradient.data()[b * C * pixels + i]);
    }
  }
  return sums;
}

}  // namespace attend::explain
