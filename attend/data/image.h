// An image in memory, and many of them as a tensor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend::data {

/// Row by row, with the channels of a pixel next to each other: pixels[(y·width + x)·channels + c]; 1 channel is grey,
/// 3 are red, green and blue.
struct Image {
  int64_t height = 0, width = 0, channels = 1;
  std::vector<uint8_t> pixels = {};

  Image() = default;
  /// Black.
  Image(int64_t height, int64_t width, int64_t channels);
  uint8_t& at(int64_t y, int64_t x, int64_t c = 0) { return pixels[index(y, x, c)]; }
  uint8_t at(int64_t y, int64_t x, int64_t c = 0) const { return pixels[index(y, x, c)]; }

 private:
  size_t index(int64_t y, int64_t x, int64_t c) const { return static_cast<size_t>((y * width + x) * channels + c); }
};

/// Pixels [top, top + height) × [left, left + width).
struct Box {
  int64_t top = 0, left = 0, height = 0, width = 0;

  bool operator==(const Box&) const = default;
};

struct LabelledImage {
  Image image;
  int32_t label = 0;
  std::string name = {};  ///< where it comes from: a file, or a place in one
  Box box = {};           ///< where the labelled object is; empty: anywhere
};

using LabelledImages = std::vector<LabelledImage>;

/// [B,C,H,W] with 0…255 as 0…1; all must have the same size.
Tensor to_tensor(std::span<const Image> images);
/// The reverse; values are clamped to 0…1.
std::vector<Image> to_images(const Tensor& tensor);

}  // namespace attend::data
