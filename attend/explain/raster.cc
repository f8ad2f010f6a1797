#include "attend/explain/raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "attend/base/base64.h"
#include "attend/base/error.h"
#include "attend/data/image_file.h"

namespace attend::explain {
namespace {

/// The pixels that become pixel `at` of `size`, out of `from`; at least one.
struct PixelRange {
  int64_t begin, end;
};
PixelRange gathered(int64_t at, int64_t size, int64_t from) {
  const int64_t begin = at * from / size;
  return {begin, std::max(begin + 1, (at + 1) * from / size)};
}

/// Means of `value(y, x)` over [rows, columns] at [height, width], which is not larger.
template <class Value>
double mean_of(const Value& value, PixelRange ys, PixelRange xs) {
  double sum = 0;
  for (int64_t y = ys.begin; y < ys.end; ++y) {
    for (int64_t x = xs.begin; x < xs.end; ++x) sum += value(y, x);
  }
  return sum / static_cast<double>((ys.end - ys.begin) * (xs.end - xs.begin));
}

/// Cells finer than [height, width], averaged so that they are not.
Tensor coarsened(const Tensor& cells, int64_t height, int64_t width) {
  const int64_t rows = std::min(cells.dim(0), height), columns = std::min(cells.dim(1), width);
  Tensor means({rows, columns});
  const auto value = [&](int64_t y, int64_t x) { return static_cast<double>(cells.data()[y * cells.dim(1) + x]); };
  for (int64_t y = 0; y < rows; ++y) {
    for (int64_t x = 0; x < columns; ++x) {
      means.data()[y * columns + x] =
          static_cast<real>(mean_of(value, gathered(y, rows, cells.dim(0)), gathered(x, columns, cells.dim(1))));
    }
  }
  return means;
}

struct Spline {
  std::array<int64_t, 4> cell;
  std::array<double, 4> weight;
};

/// The four cells that pixel `at` of `size` lies among, out of `cells`, and the uniform cubic B-spline's weights of them.
Spline spline(int64_t at, int64_t size, int64_t cells) {
  const double place = (static_cast<double>(at) + 0.5) * static_cast<double>(cells) / static_cast<double>(size) - 0.5;
  const double t = place - std::floor(place), s = 1 - t;
  Spline found{
      {}, {s * s * s / 6, (3 * t * t * t - 6 * t * t + 4) / 6, (3 * s * s * s - 6 * s * s + 4) / 6, t * t * t / 6}};
  for (int64_t i = 0; i < 4; ++i) {
    found.cell[static_cast<size_t>(i)] =
        std::clamp<int64_t>(static_cast<int64_t>(std::floor(place)) - 1 + i, 0, cells - 1);
  }
  return found;
}

/// Divides by what counts as the largest, and clamps to one.
Tensor shares_of(Tensor values, size_t cells) {
  constexpr size_t kMany = 1000, kOneIn = 200;
  std::vector<real> sorted(values.begin(), values.end());
  const auto rank = sorted.begin() + static_cast<std::ptrdiff_t>(cells < kMany ? 0 : sorted.size() / kOneIn);
  std::ranges::nth_element(sorted, rank, std::greater<>());
  real most = *rank;
  if (!(most > 0)) most = *std::ranges::max_element(sorted);
  for (real& value : values.values()) value = most > 0 ? std::min<real>(1, value / most) : 0;
  return values;
}

void require_cells(const Tensor& cells, int64_t height, int64_t width) {
  require(cells.defined() && cells.rank() == 2 && cells.size() > 0 && height > 0 && width > 0,
          "shares: expected cells [rows, columns] and a size of at least a pixel, got ", cells.shape(), " at ",
          height, " × ", width);
}

}  // namespace

data::Image resampled(const data::Image& image, int64_t height, int64_t width) {
  data::Image sampled(height, width, image.channels);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const PixelRange ys = gathered(y, height, image.height), xs = gathered(x, width, image.width);
      for (int64_t c = 0; c < image.channels; ++c) {
        const auto value = [&](int64_t from_y, int64_t from_x) { return image.at(from_y, from_x, c); };
        sampled.at(y, x, c) = static_cast<uint8_t>(std::lround(mean_of(value, ys, xs)));
      }
    }
  }
  return sampled;
}

data::Image reduced(const data::Image& image, int64_t side) {
  const int64_t longer = std::max(image.height, image.width);
  if (longer <= side) return image;
  return resampled(image, std::max<int64_t>(1, image.height * side / longer),
                   std::max<int64_t>(1, image.width * side / longer));
}

Tensor smooth_shares(const Tensor& cells, int64_t height, int64_t width) {
  require_cells(cells, height, width);
  const Tensor coarse = coarsened(cells, height, width);
  const int64_t rows = coarse.dim(0), columns = coarse.dim(1);
  Tensor wide({rows, width}), shares({height, width});
  for (int64_t x = 0; x < width; ++x) {
    const Spline across = spline(x, width, columns);
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (size_t i = 0; i < 4; ++i)
        sum += across.weight[i] * static_cast<double>(coarse.data()[r * columns + across.cell[i]]);
      wide.data()[r * width + x] = static_cast<real>(sum);
    }
  }
  for (int64_t y = 0; y < height; ++y) {
    const Spline down = spline(y, height, rows);
    for (int64_t x = 0; x < width; ++x) {
      double sum = 0;
      for (size_t i = 0; i < 4; ++i) sum += down.weight[i] * static_cast<double>(wide.data()[down.cell[i] * width + x]);
      shares.data()[y * width + x] = static_cast<real>(sum);
    }
  }
  return shares_of(std::move(shares), cells.size());
}

Tensor cell_shares(const Tensor& cells, int64_t height, int64_t width) {
  require_cells(cells, height, width);
  const Tensor coarse = coarsened(cells, height, width);
  Tensor shares({height, width});
  for (int64_t y = 0; y < height; ++y) {
    const real* row = coarse.data() + y * coarse.dim(0) / height * coarse.dim(1);
    for (int64_t x = 0; x < width; ++x) shares.data()[y * width + x] = row[x * coarse.dim(1) / width];
  }
  return shares_of(std::move(shares), cells.size());
}

Tensor tile_shares(std::span<const double> tiles, int64_t columns, int64_t side, const data::Image& image,
                   int64_t height, int64_t width) {
  const double most = tiles.empty() ? 0 : *std::ranges::max_element(tiles);
  Tensor shares = Tensor::zeros({height, width});
  for (int64_t y = 0; y < height; ++y) {
    const int64_t row = y * image.height / height / side;
    for (int64_t x = 0; x < width; ++x) {
      const double tile = tiles[static_cast<size_t>(row * columns + x * image.width / width / side)];
      if (most > 0) shares.data()[y * width + x] = static_cast<real>(tile / most);
    }
  }
  return shares;
}

data::Image veil_of(const Tensor& shares) {
  data::Image veil(shares.dim(0), shares.dim(1), 1);
  for (size_t i = 0; i < shares.size(); ++i) {
    veil.pixels[i] =
        static_cast<uint8_t>(std::lround(255 * kVeilOpacity * (1 - static_cast<double>(shares.data()[i]))));
  }
  return veil;
}

data::Image veiled(const data::Image& image, const data::Image& veil) {
  require(veil.height == image.height && veil.width == image.width && veil.channels == 1,
          "veiled: expected a veil of the image's size, ", image.height, " × ", image.width, ", got ", veil.height,
          " × ", veil.width);
  const std::array<int, 3> colour{kVeil.red, kVeil.green, kVeil.blue};
  data::Image under(image.height, image.width, 3);
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      const int opaque = veil.at(y, x);
      for (int64_t c = 0; c < 3; ++c) {
        const int clear = image.at(y, x, image.channels == 1 ? 0 : c);
        under.at(y, x, c) =
            static_cast<uint8_t>((clear * (255 - opaque) + colour[static_cast<size_t>(c)] * opaque + 127) / 255);
      }
    }
  }
  return under;
}

data::Image heat_of(const Tensor& shares) {
  data::Image heat(shares.dim(0), shares.dim(1), 3);
  for (size_t i = 0; i < shares.size(); ++i) {
    const Colour colour = sequential(static_cast<double>(shares.data()[i]));
    const std::array<int, 3> parts{colour.red, colour.green, colour.blue};
    for (size_t c = 0; c < 3; ++c) heat.pixels[3 * i + c] = static_cast<uint8_t>(parts[c]);
  }
  return heat;
}

std::string place_name(double x, double y) {
  constexpr const char* kNames[3][3] = {
      {"upper left", "top", "upper right"}, {"left", "centre", "right"}, {"lower left", "bottom", "lower right"}};
  const auto third = [](double share) { return static_cast<size_t>(std::clamp(std::floor(3 * share), 0.0, 2.0)); };
  return kNames[third(y)][third(x)];
}

std::string data_uri(const data::Image& image) { return "data:image/png;base64," + base64(data::encode_png(image)); }

}  // namespace attend::explain
