#include "attend/kernels/glimpse.h"

#include <algorithm>

#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/glimpse.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Pixels per task: below this, one thread is done before another has started.
constexpr size_t kPatchGrain = size_t{32} << 10;

/// One patch of one channel: `factor` × `factor` pixels make one number. [left, left + side·factor) meets the image in
/// columns [from, to).
struct Window {
  size_t side, factor, height, width;
  ptrdiff_t top, left;
  size_t from, to;
};

Window window_of(const Patches& p, size_t factor, const real* location) {
  const size_t pixels = p.side * factor;
  const ptrdiff_t left = patch_begin(location[0], p.width, pixels), right = left + static_cast<ptrdiff_t>(pixels);
  const ptrdiff_t W = static_cast<ptrdiff_t>(p.width);
  const ptrdiff_t from = std::clamp<ptrdiff_t>(left, 0, W), to = std::clamp<ptrdiff_t>(right, from, W);
  return {p.side,
          factor,
          p.height,
          p.width,
          patch_begin(location[1], p.height, pixels),
          left,
          static_cast<size_t>(from),
          static_cast<size_t>(to)};
}

/// The row of the image that pixel row r of the window is; null outside.
template <class Pixel>
HWY_INLINE Pixel* image_row(const Window& w, Pixel* plane, size_t r) {
  const ptrdiff_t y = w.top + static_cast<ptrdiff_t>(r);
  return y < 0 || y >= static_cast<ptrdiff_t>(w.height) ? nullptr : plane + static_cast<size_t>(y) * w.width;
}

/// `strip` has room for one row of the window's pixels.
void read_window(const Window& w, const real* plane, real* strip, real* out) {
  const size_t pixels = w.side * w.factor, before = static_cast<size_t>(static_cast<ptrdiff_t>(w.from) - w.left);
  const size_t count = w.to - w.from;
  const real share = 1 / static_cast<real>(w.factor * w.factor);
  for (size_t r = 0; r < w.side; ++r, out += w.side) {
    real* row = w.factor == 1 ? out : strip;
    std::fill_n(row, pixels, real{0});
    for (size_t u = 0; u < w.factor; ++u) {
      const real* pixel = image_row(w, plane, r * w.factor + u);
      if (!pixel) continue;
      pixel += w.from;
      real* to = row + before;
      for (size_t x = 0; x < count; ++x) to[x] += pixel[x];
    }
    if (w.factor == 1) continue;
    for (size_t c = 0; c < w.side; ++c) {
      real sum = 0;
      for (size_t v = 0; v < w.factor; ++v) sum += strip[c * w.factor + v];
      out[c] = sum * share;
    }
  }
}

void spread_window(const Window& w, const real* dout, real* strip, real* dplane) {
  const size_t before = static_cast<size_t>(static_cast<ptrdiff_t>(w.from) - w.left), count = w.to - w.from;
  const real share = 1 / static_cast<real>(w.factor * w.factor);
  for (size_t r = 0; r < w.side; ++r, dout += w.side) {
    for (size_t c = 0; c < w.side; ++c) std::fill_n(strip + c * w.factor, w.factor, dout[c] * share);
    for (size_t u = 0; u < w.factor; ++u) {
      real* pixel = image_row(w, dplane, r * w.factor + u);
      if (!pixel) continue;
      for (size_t x = 0; x < count; ++x) pixel[w.from + x] += strip[before + x];
    }
  }
}

/// Calls body(window, plane, number) for each patch of row n: which plane it reads, and where its numbers begin in the row.
template <class Body>
void over_patches(const Patches& p, const real* location, size_t n, Body&& body) {
  size_t number = 0, factor = p.finest;
  for (size_t j = 0; j < p.scales; ++j, factor *= p.growth) {
    const Window w = window_of(p, factor, location);
    for (size_t c = 0; c < p.channels; ++c, number += p.side * p.side) {
      body(w, (n % p.images * p.channels + c) * p.height * p.width, number);
    }
  }
}

size_t widest(const Patches& p) {
  size_t pixels = p.side * p.finest;
  for (size_t j = 1; j < p.scales; ++j) pixels *= p.growth;
  return pixels;
}

void Read(const Patches& p, const real* images, const real* locations, real* out) {
  const size_t strip = widest(p), per_task = std::max<size_t>(1, kPatchGrain / (strip * strip * p.channels));
  parallel_ranges<1>(p.rows, per_task, [&](size_t begin, size_t end) {
    const memory::Scratch buffer(strip);
    for (size_t n = begin; n < end; ++n) {
      over_patches(p, locations + 2 * n, n, [&](const Window& w, size_t plane, size_t number) {
        read_window(w, images + plane, buffer.data(), out + n * p.numbers() + number);
      });
    }
  });
}

/// A task has whole images, each with all rows that look at it, in order.
void Spread(const Patches& p, const real* dout, const real* locations, real* dimages) {
  const size_t strip = widest(p), looks = std::max<size_t>(1, p.rows / p.images);
  const size_t per_task = std::max<size_t>(1, kPatchGrain / (strip * strip * p.channels * looks));
  parallel_ranges<1>(p.images, per_task, [&](size_t begin, size_t end) {
    const memory::Scratch buffer(strip);
    for (size_t b = begin; b < end; ++b) {
      for (size_t n = b; n < p.rows; n += p.images) {
        over_patches(p, locations + 2 * n, n, [&](const Window& w, size_t plane, size_t number) {
          spread_window(w, dout + n * p.numbers() + number, buffer.data(), dimages + plane);
        });
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Read);
HWY_EXPORT(Spread);

void glimpse_patches(const Patches& p, const real* images, const real* locations, real* out) {
  if (p.rows > 0) HWY_DYNAMIC_DISPATCH(Read)(p, images, locations, out);
}

void glimpse_patches_backward(const Patches& p, const real* dout, const real* locations, real* dimages) {
  if (p.rows > 0) HWY_DYNAMIC_DISPATCH(Spread)(p, dout, locations, dimages);
}

}  // namespace attend::kernels
#endif
