#include "attend/autograd/ops/glimpse.h"

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/glimpse.h"

namespace attend {
namespace {

// Wider than any image in use, and small enough that no product of extents overflows.
constexpr int64_t kWidestPatch = 1 << 16;

kernels::Patches patches_of(const Var& images, const Tensor& locations, const PatchOptions& options) {
  require(images.defined() && images.rank() == 4 && images.size() > 0,
          "glimpse_patches: expected images [B, C, H, W] with pixels, got ", images.shape());
  const int64_t B = images.dim(0);
  require(locations.defined() && locations.rank() == 2 && locations.dim(1) == 2 && locations.dim(0) % B == 0,
          "glimpse_patches: expected locations [N, 2] with N a multiple of ", B, " images, got ", locations.shape());
  require(options.patch >= 1 && options.scales >= 1 && options.growth >= 1 && options.finest >= 1,
          "glimpse_patches: expected patch, scales, growth and finest of at least 1, got ", options.patch, ", ",
          options.scales, ", ", options.growth, " and ", options.finest);
  patch_pixels(options, options.scales - 1);
  for (const real x : locations.values()) {
    require(x >= -1 && x <= 1, "glimpse_patches: expected locations within -1 … 1, got ", x);
  }
  const auto size = [](int64_t x) { return static_cast<size_t>(x); };
  return {.images = size(B),
          .channels = size(images.dim(1)),
          .height = size(images.dim(2)),
          .width = size(images.dim(3)),
          .rows = size(locations.dim(0)),
          .side = size(options.patch),
          .scales = size(options.scales),
          .growth = size(options.growth),
          .finest = size(options.finest)};
}

}  // namespace

int64_t patch_pixels(const PatchOptions& options, int64_t scale) {
  int64_t pixels = options.patch;
  for (int64_t j = 0; j <= scale && pixels <= kWidestPatch; ++j) {
    const int64_t factor = j == 0 ? options.finest : options.growth;
    pixels = factor > kWidestPatch ? kWidestPatch + 1 : pixels * factor;
  }
  require(pixels <= kWidestPatch, "glimpse_patches: expected squares of at most ", kWidestPatch,
          " pixels each way; patch, scales, growth or finest is too large");
  return pixels;
}

Var glimpse_patches(const Var& images, const Tensor& locations, const PatchOptions& options) {
  const kernels::Patches p = patches_of(images, locations, options);
  Tensor y({locations.dim(0), static_cast<int64_t>(p.numbers())});
  kernels::glimpse_patches(p, images.value().data(), locations.data(), y.data());
  if (!recording(images)) return y;
  return record(std::move(y), [images = images.slot(), locations, p](Tensor dy) {
    kernels::glimpse_patches_backward(p, dy.data(), locations.data(), images.buffer().data());
  });
}

}  // namespace attend
