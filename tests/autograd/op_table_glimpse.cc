#include <cmath>

#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

/// (x, y) of each row: the middle, the corners, just inside and between pixels.
Tensor places(int64_t rows) {
  const real all[] = {0, 0, -1, -1, 1, 1, real(0.37), real(-0.81), real(-0.5), real(0.93), 1, -1};
  Tensor at({rows, 2});
  for (int64_t i = 0; i < 2 * rows; ++i) at.data()[i] = all[i % 12];
  return at;
}

/// One number after the other: the mean over its pixels, where those outside the image are 0.
Array patches_by_loops(const Array& images, const Tensor& locations, const PatchOptions& o) {
  const int64_t C = images.dim(1), H = images.dim(2), W = images.dim(3), N = locations.dim(0);
  Array y({N, o.scales * C * o.patch * o.patch});
  for (int64_t n = 0; n < N; ++n) {
    int64_t number = 0, factor = o.finest;
    for (int64_t j = 0; j < o.scales; ++j, factor *= o.growth) {
      const auto begin = [&](real location, int64_t extent) {
        const double half = static_cast<double>(extent) / 2;
        return static_cast<int64_t>(
            std::floor((location + 1.0) * half - static_cast<double>(o.patch * factor) / 2 + 0.5));
      };
      const int64_t left = begin(locations.data()[2 * n], W), top = begin(locations.data()[2 * n + 1], H);
      for (int64_t c = 0; c < C; ++c) {
        for (int64_t i = 0; i < o.patch * o.patch; ++i, ++number) {
          double sum = 0;
          for (int64_t p = 0; p < factor * factor; ++p) {
            const int64_t row = top + i / o.patch * factor + p / factor,
                          column = left + i % o.patch * factor + p % factor;
            if (row >= 0 && row < H && column >= 0 && column < W) sum += images(n % images.dim(0), c, row, column);
          }
          y(n, number) = sum / static_cast<double>(factor * factor);
        }
      }
    }
  }
  return y;
}

}  // namespace

void add_glimpse_rows(std::vector<OpRow>& table) {
  struct Kind {
    const char* name;
    Shape images;
    int64_t rows;
    PatchOptions options;
  };
  const Shape image{1, 1, 9, 9};
  for (const Kind& kind : {Kind{"one scale", {2, 1, 9, 12}, 6, {.patch = 4}},
                           Kind{"odd patch", {1, 1, 7, 5}, 6, {.patch = 3, .scales = 2}},
                           Kind{"channels", {2, 3, 11, 8}, 12, {.patch = 3, .scales = 3}},
                           Kind{"growth 3", {3, 2, 10, 10}, 6, {.patch = 2, .scales = 3, .growth = 3}},
                           Kind{"whole image", {2, 2, 13, 9}, 2, {.patch = 4, .finest = 4}},
                           Kind{"wide", {1, 1, 40, 70}, 6, {.patch = 33}}}) {
    const Tensor at = places(kind.rows);
    table.push_back({std::string("glimpse_patches ") + kind.name,
                     {kind.images},
                     [at, o = kind.options](const Vars& x) { return Vars{glimpse_patches(x[0], at, o)}; },
                     [at, o = kind.options](const Arrays& x) { return Arrays{patches_by_loops(x[0], at, o)}; },
                     {{[] {
                         glimpse_patches(Tensor::zeros({3, 5, 5}), Tensor::zeros({3, 2}));
                       },
                       "images [B, C, H, W]"},
                      {[] {
                         glimpse_patches(Tensor::zeros({3, 1, 5, 5}), Tensor::zeros({4, 2}));
                       },
                       "N a multiple of 3 images, got [4, 2]"},
                      {[image] {
                         glimpse_patches(Tensor::zeros(image), Tensor::full({1, 2}, real(1.5)));
                       },
                       "expected locations within -1 … 1, got 1.5"},
                      {[image] {
                         glimpse_patches(Tensor::zeros(image), Tensor::full({1, 2}, real(NAN)));
                       },
                       "expected locations within -1 … 1, got nan"},
                      {[image] {
                         glimpse_patches(Tensor::zeros(image), Tensor::zeros({1, 2}), {.patch = 0});
                       },
                       "of at least 1, got 0, 1, 2 and 1"},
                      {[image] {
                         glimpse_patches(Tensor::zeros(image), Tensor::zeros({1, 2}), {.scales = 60});
                       },
                       "squares of at most 65536 pixels"}}});
  }
}

}  // namespace attend::test
