#include "attend/kernels/convolution.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "attend/base/memory.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/onednn_convolution.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/windows-inl.h"

namespace attend::kernels {
namespace {

constexpr size_t kOutside = std::numeric_limits<size_t>::max();

/// The unfolded image is U[C·KH·KW, OH·OW] with U[(c,u,v), (i,j)] = x[c, i·stride+u−padding, j·stride+v−padding]. Calls
/// `run(at, from, count)` for every run of its block (channels × pixels, stored separately): `count` numbers starting
/// at `at`, which lie in the image from `from`, `stride` apart, or in the padding (kOutside).
template <class Run>
void over_unfolded(const Conv2d& g, Interval channels, Interval pixels, Run&& run) {
  const size_t wide = g.out_width();
  size_t at = 0;
  for (size_t c = channels.begin; c < channels.end; ++c) {
    for (size_t u = 0; u < g.kernel_height; ++u) {
      for (size_t v = 0; v < g.kernel_width; ++v) {
        const Interval inside = windows_inside(v, g.width, wide, g.stride, g.padding);
        size_t i = pixels.begin / wide, first = pixels.begin % wide;
        for (size_t left = pixels.end - pixels.begin; left > 0; ++i, first = 0) {
          const size_t last = std::min(wide, first + left), row = i * g.stride + u;
          left -= last - first;
          if (row < g.padding || row - g.padding >= g.height) {
            run(at, kOutside, last - first);
          } else {
            const size_t begin = std::clamp(inside.begin, first, last), end = std::clamp(inside.end, begin, last);
            const size_t from = (c * g.height + row - g.padding) * g.width + begin * g.stride + v - g.padding;
            if (begin > first) run(at, kOutside, begin - first);
            if (end > begin) run(at + (begin - first), from, end - begin);
            if (last > end) run(at + (end - first), kOutside, last - end);
          }
          at += last - first;
        }
      }
    }
  }
}

// Rows of images are short (28 … 56): eight numbers at a time inline, as a call to memcpy would double the cost.
inline void copy_stretch(const real* in, size_t count, real* out) {
  constexpr size_t kStep = 8;
  if (count < kStep) {
    for (size_t i = 0; i < count; ++i) out[i] = in[i];
    return;
  }
  for (size_t i = 0; i + kStep <= count; i += kStep) std::memcpy(out + i, in + i, kStep * sizeof(real));
  std::memcpy(out + count - kStep, in + count - kStep, kStep * sizeof(real));
}

void unfold(const Conv2d& g, const real* image, Interval channels, Interval pixels, real* block) {
  over_unfolded(g, channels, pixels, [&](size_t at, size_t from, size_t count) {
    if (from == kOutside) {
      for (size_t i = 0; i < count; ++i) block[at + i] = 0;
    } else if (g.stride == 1) {
      copy_stretch(image + from, count, block + at);
    } else {
      for (size_t i = 0; i < count; ++i) block[at + i] = image[from + i * g.stride];
    }
  });
}

/// image += the block folded back: the transpose of unfold.
void fold_into(const Conv2d& g, const real* block, Interval channels, Interval pixels, real* image) {
  over_unfolded(g, channels, pixels, [&](size_t at, size_t from, size_t count) {
    if (from == kOutside) return;
    for (size_t i = 0; i < count; ++i) image[from + i * g.stride] += block[at + i];
  });
}

// An unfolded block of 64 Ki numbers (256 KiB in f32) leaves room for the other operands in a second-level cache of
// 512 KiB. Measured from 28 to 336 pixels per block on 3×3, 32→64 and 64→64: best here, flat around it.
constexpr size_t kBlockNumbers = size_t{1} << 16;

size_t pixels_per_block(const Conv2d& g, size_t rows) {
  const size_t pixels = g.out_height() * g.out_width();
  return std::min(pixels, std::max<size_t>(16, kBlockNumbers / rows / 16 * 16));
}

// Partial sums of the weights' gradient: enough tasks for many cores, few enough to be added quickly.
constexpr size_t kSums = 16;

}  // namespace

void conv2d_forward(const Conv2d& g, const real* x, const real* weight, const real* bias, real* y) {
  if (convolve_directly("conv2d", Direction::forward, g, x, weight, bias, y)) return;
  conv2d_forward_by_product(g, x, weight, bias, y);
}

void conv2d_backward_data(const Conv2d& g, const real* dy, const real* weight, real* dx) {
  if (convolve_directly("conv2d backward", Direction::backward_data, g, dy, weight, nullptr, dx)) return;
  conv2d_backward_data_by_product(g, dy, weight, dx);
}

void conv2d_forward_by_product(const Conv2d& g, const real* x, const real* weight, const real* bias, real* y) {
  const size_t pixels = g.out_height() * g.out_width(), taps = g.taps();
  const size_t step = pixels_per_block(g, taps), blocks = (pixels + step - 1) / step;
  parallel_for(g.batch * blocks, [&](size_t task) {
    const size_t image = task / blocks, begin = task % blocks * step, count = std::min(step, pixels - begin);
    const memory::Scratch block(taps * count);
    unfold(g, x + image * g.channels * g.height * g.width, {0, g.channels}, {begin, begin + count}, block.data());
    real* out = y + image * g.outputs * pixels + begin;
    if (bias) {
      for (size_t o = 0; o < g.outputs; ++o) std::fill_n(out + o * pixels, count, bias[o]);
    }
    gemm({.m = g.outputs,
          .n = count,
          .k = taps,
          .a = weight,
          .lda = taps,
          .b = block.data(),
          .ldb = count,
          .c = out,
          .ldc = pixels,
          .accumulate = bias != nullptr});
  });
}

void conv2d_backward_data_by_product(const Conv2d& g, const real* dy, const real* weight, real* dx) {
  const size_t pixels = g.out_height() * g.out_width(), taps = g.taps(), image_size = g.channels * g.height * g.width;
  const size_t step = pixels_per_block(g, taps);
  const memory::Scratch turned(taps * g.outputs);
  transpose(weight, g.outputs, taps, turned.data());
  parallel_for(g.batch, [&](size_t image) {
    const memory::Scratch block(taps * step);
    std::fill_n(dx + image * image_size, image_size, real{0});
    for (size_t begin = 0; begin < pixels; begin += step) {
      const size_t count = std::min(step, pixels - begin);
      gemm({.m = taps,
            .n = count,
            .k = g.outputs,
            .a = turned.data(),
            .lda = g.outputs,
            .b = dy + image * g.outputs * pixels + begin,
            .ldb = pixels,
            .c = block.data(),
            .ldc = count});
      fold_into(g, block.data(), {0, g.channels}, {begin, begin + count}, dx + image * image_size);
    }
  });
}

// Our own on every machine: on an AVX2 core oneDNN's kernel gives 66 GFLOP/s and needs x and dy in its layouts; this
// gives 72–77 (3×3, 32→64 on 28×28 and 64→64 on 56×56), reads both in place, and sums in an order that does not depend
// on the number of threads, which oneDNN does not promise.
//
// dweightᵀ[taps, O] = Σ over blocks of pixels of U[taps, pixels] · dy[O, pixels]ᵀ, U being the unfolded image. The bias
// is a weight on a constant 1: a last row of ones in U.
void conv2d_backward_weights(const Conv2d& g, const real* x, const real* dy, real* dweight, real* dbias) {
  const size_t pixels = g.out_height() * g.out_width(), window = g.kernel_height * g.kernel_width;
  const size_t channels = dweight ? g.channels : 0, taps = channels * window, rows = taps + (dbias ? 1 : 0);
  // A task's sums (channels × outputs) stay in its cache; large layers have many such blocks, small ones split pixels.
  const size_t wide = std::min<size_t>(g.outputs, 256), deep = std::max<size_t>(1, kBlockNumbers / (window * wide));
  const size_t across = (g.outputs + wide - 1) / wide, down = std::max<size_t>(1, (channels + deep - 1) / deep);
  const size_t step = pixels_per_block(g, std::min(channels, deep) * window + 1), steps = (pixels + step - 1) / step;
  const size_t units = g.batch * steps;
  const size_t sums = std::min(units, std::max<size_t>(1, kSums / (across * down)));
  const memory::Scratch partial(std::max<size_t>(sums, 1) * rows * g.outputs);
  if (sums == 0) std::fill_n(partial.data(), rows * g.outputs, real{0});
  parallel_for(sums * across * down, [&](size_t task) {
    const size_t sum = task / (across * down), o = task % across * wide, c = task / across % down * deep;
    const size_t outputs = std::min(wide, g.outputs - o), c_end = std::min(channels, c + deep);
    const bool with_ones = dbias && c_end == channels;
    const size_t height = (c_end - c) * window + (with_ones ? 1 : 0);
    const size_t begin = units * sum / sums, end = units * (sum + 1) / sums;
    const memory::Scratch block(height * step);
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t image = unit / steps, first = unit % steps * step, count = std::min(step, pixels - first);
      if (c_end > c) {
        unfold(g, x + image * g.channels * g.height * g.width, {c, c_end}, {first, first + count}, block.data());
      }
      if (with_ones) std::fill_n(block.data() + (height - 1) * count, count, real{1});
      gemm({.m = height,
            .n = outputs,
            .k = count,
            .a = block.data(),
            .lda = count,
            .b = dy + (image * g.outputs + o) * pixels + first,
            .ldb = pixels,
            .transpose_b = true,
            .c = partial.data() + (sum * rows + c * window) * g.outputs + o,
            .ldc = g.outputs,
            .accumulate = unit > begin});
    }
  });
  for (size_t sum = 1; sum < sums; ++sum) {
    add_into(partial.data(), partial.data() + sum * rows * g.outputs, rows * g.outputs);
  }
  if (dweight) transpose(partial.data(), taps, g.outputs, dweight);
  if (dbias) std::copy_n(partial.data() + taps * g.outputs, g.outputs, dbias);
}

}  // namespace attend::kernels
