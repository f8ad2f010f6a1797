#include "attend/data/image.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"

namespace attend::data {

Image::Image(int64_t height, int64_t width, int64_t channels)
    : height(height), width(width), channels(channels), pixels(static_cast<size_t>(height * width * channels)) {}

Tensor to_tensor(std::span<const Image> images) {
  require(!images.empty(), "to_tensor: expected at least one image, got none");
  const Image& first = images[0];
  Tensor all({static_cast<int64_t>(images.size()), first.channels, first.height, first.width});
  real* out = all.data();
  for (const Image& image : images) {
    require(image.height == first.height && image.width == first.width && image.channels == first.channels,
            "to_tensor: expected images of one size, ", first.height, "×", first.width, "×", first.channels, ", got ",
            image.height, "×", image.width, "×", image.channels);
    for (int64_t c = 0; c < image.channels; ++c) {
      for (size_t i = static_cast<size_t>(c); i < image.pixels.size(); i += static_cast<size_t>(image.channels)) {
        *out++ = static_cast<real>(image.pixels[i]) / real(255);
      }
    }
  }
  return all;
}

std::vector<Image> to_images(const Tensor& tensor) {
  require(tensor.rank() == 4, "to_images: expected images [B,C,H,W], got ", tensor.shape());
  const real* in = tensor.data();
  std::vector<Image> images;
  for (int64_t b = 0; b < tensor.dim(0); ++b) {
    Image& image = images.emplace_back(tensor.dim(2), tensor.dim(3), tensor.dim(1));
    for (int64_t c = 0; c < image.channels; ++c) {
      for (size_t i = static_cast<size_t>(c); i < image.pixels.size(); i += static_cast<size_t>(image.channels)) {
        image.pixels[i] = static_cast<uint8_t>(std::lround(std::clamp(*in++, real(0), real(1)) * 255));
      }
    }
  }
  return images;
}

}  // namespace attend::data
