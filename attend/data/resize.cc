#include "attend/data/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/base/error.h"

namespace attend::data {
namespace {

/// What makes up one pixel of the result along one axis: weights (which sum to 1) of the pixels from `first` on.
struct Taps {
  int64_t first = 0;
  std::vector<float> weights;
};

/// The mean over [i·r, (i + 1)·r) with r = from / to.
Taps area_taps(int64_t i, int64_t from, int64_t to) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double begin = static_cast<double>(i) * ratio, end = begin + ratio;
  Taps taps{static_cast<int64_t>(begin), {}};
  for (int64_t j = taps.first; j < from && static_cast<double>(j) < end - 1e-9; ++j) {
    const double covered = std::min(end, static_cast<double>(j + 1)) - std::max(begin, static_cast<double>(j));
    taps.weights.push_back(static_cast<float>(covered / ratio));
  }
  return taps;
}

/// Between the two pixels whose centres enclose (i + ½)·r − ½; the outermost ones extend.
Taps linear_taps(int64_t i, int64_t from, int64_t to) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double centre = std::clamp((static_cast<double>(i) + 0.5) * ratio - 0.5, 0.0, static_cast<double>(from - 1));
  const int64_t first = std::min(static_cast<int64_t>(centre), std::max<int64_t>(from - 2, 0));
  const auto part = static_cast<float>(centre - static_cast<double>(first));
  return from == 1 ? Taps{0, {1.0F}} : Taps{first, {1.0F - part, part}};
}

std::vector<Taps> taps_of(int64_t from, int64_t to) {
  std::vector<Taps> taps;
  taps.reserve(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) taps.push_back(to < from ? area_taps(i, from, to) : linear_taps(i, from, to));
  return taps;
}

/// One row of the image at the new width, added to `sums` with a weight.
void add_row(const Image& image, int64_t y, const std::vector<Taps>& columns, float weight, std::vector<float>& sums) {
  float* out = sums.data();
  for (const Taps& taps : columns) {
    for (int64_t c = 0; c < image.channels; ++c) {
      float sum = 0;
      const uint8_t* in = &image.pixels[static_cast<size_t>((y * image.width + taps.first) * image.channels + c)];
      for (const float w : taps.weights) {
        sum += w * static_cast<float>(*in);
        in += image.channels;
      }
      *out++ += weight * sum;
    }
  }
}

void require_pixels(const char* where, const Image& image) {
  require(image.height > 0 && image.width > 0 && (image.channels == 1 || image.channels == 3), where,
          ": expected an image with 1 or 3 channels, got ", image.height, "×", image.width, "×", image.channels);
}

}  // namespace

Image resized(const Image& image, int64_t height, int64_t width) {
  require_pixels("resized", image);
  require(height > 0 && width > 0, "resized: expected a size of at least 1×1, got ", height, "×", width);
  if (height == image.height && width == image.width) return image;
  const std::vector<Taps> rows = taps_of(image.height, height), columns = taps_of(image.width, width);
  Image result(height, width, image.channels);
  std::vector<float> sums(static_cast<size_t>(width * image.channels));
  uint8_t* out = result.pixels.data();
  for (const Taps& taps : rows) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (size_t k = 0; k < taps.weights.size(); ++k) {
      if (taps.weights[k] > 0) add_row(image, taps.first + static_cast<int64_t>(k), columns, taps.weights[k], sums);
    }
    for (const float sum : sums) *out++ = static_cast<uint8_t>(std::clamp(std::lround(sum), 0L, 255L));
  }
  return result;
}

Image cropped(const Image& image, int64_t top, int64_t left, int64_t height, int64_t width) {
  require(
      height > 0 && width > 0 && top >= 0 && left >= 0 && top <= image.height - height && left <= image.width - width,
      "cropped: expected a part of the image of ", image.height, "×", image.width, ", got ", height, "×", width,
      " at ", top, ", ", left);
  Image part(height, width, image.channels);
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t* row = &image.pixels[static_cast<size_t>(((top + y) * image.width + left) * image.channels)];
    std::copy_n(row, width * image.channels, &part.pixels[static_cast<size_t>(y * width * image.channels)]);
  }
  return part;
}

Image centre_cropped(const Image& image, int64_t height, int64_t width) {
  require_pixels("centre_cropped", image);
  require(height > 0 && width > 0, "centre_cropped: expected proportions of at least 1:1, got ", height, ":", width);
  const double scale = std::min(static_cast<double>(image.height) / static_cast<double>(height),
                                static_cast<double>(image.width) / static_cast<double>(width));
  const auto part = [&](int64_t side, int64_t there) {
    return std::clamp<int64_t>(std::llround(scale * static_cast<double>(side)), 1, there);
  };
  const int64_t rows = part(height, image.height), columns = part(width, image.width);
  if (rows == image.height && columns == image.width) return image;
  return cropped(image, (image.height - rows) / 2, (image.width - columns) / 2, rows, columns);
}

Image with_channels(const Image& image, int64_t channels) {
  require_pixels("with_channels", image);
  require(channels == 1 || channels == 3, "with_channels: expected 1 or 3, got ", channels);
  if (channels == image.channels) return image;
  Image result(image.height, image.width, channels);
  const size_t pixels = static_cast<size_t>(image.height * image.width);
  for (size_t i = 0; i < pixels; ++i) {
    if (channels == 3) {
      std::fill_n(&result.pixels[3 * i], 3, image.pixels[i]);
    } else {
      const uint8_t* rgb = &image.pixels[3 * i];
      result.pixels[i] = static_cast<uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
    }
  }
  return result;
}

Image fitted(const Image& image, int64_t height, int64_t width, int64_t channels) {
  return with_channels(resized(centre_cropped(image, height, width), height, width), channels);
}

}  // namespace attend::data
