// Images, and maps over them, as shown to people: what was looked at is clear, the rest is veiled.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "attend/data/image.h"
#include "attend/explain/colours.h"
#include "attend/tensor/tensor.h"

namespace attend::explain {

/// Of a middle lightness, so that black and white both change under it, and of a colour that few photos have.
inline constexpr Colour kVeil{70, 78, 150};
/// How opaque it is where nothing was looked at: the image can still be made out.
inline constexpr double kVeilOpacity = 0.8;

/// At that size: pixels that merge are averaged, others are repeated.
data::Image resampled(const data::Image& image, int64_t height, int64_t width);
/// An image of at most side × side; a smaller one stays as it is.
data::Image reduced(const data::Image& image, int64_t side);

/// The cells [rows, columns] as shares of the largest, 0 … 1, at [height, width]: cubic B-splines between the centres
/// of cells, which are never negative. From 1000 cells on, the largest is taken among the lowest 199 in 200: a single
/// bright pixel would leave all others dark.
Tensor smooth_shares(const Tensor& cells, int64_t height, int64_t width);
/// The same without smoothing: each pixel has its cell's share.
Tensor cell_shares(const Tensor& cells, int64_t height, int64_t width);

/// The tiles of `side` pixels over an image of image_height × image_width, as shares of the likeliest, at [height, width].
Tensor tile_shares(std::span<const double> tiles, int64_t columns, int64_t side, const data::Image& image,
                   int64_t height, int64_t width);

/// How opaque the veil is, 0 … 255, one channel.
data::Image veil_of(const Tensor& shares);
/// The image under a veil of the same size: three channels.
data::Image veiled(const data::Image& image, const data::Image& veil);
/// The shares alone, in the colours of heat maps.
data::Image heat_of(const Tensor& shares);

/// "upper left", "centre" …: where a point is, given as shares of the image's width and height.
std::string place_name(double x, double y);

/// The image as a PNG inside a data: address.
std::string data_uri(const data::Image& image);

}  // namespace attend::explain
