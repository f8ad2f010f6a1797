#include "attend/kernels/depthwise.h"

#include <algorithm>
#include <type_traits>

#include "attend/kernels/parallel.h"
#include "attend/kernels/windows-inl.h"

namespace attend::kernels {
namespace {

/// Calls `tap(t, i, j, from, count, step)` for every tap t of the kernel and every row i of windows: of the windows
/// [j, j + count) of that row the tap lies inside the plane, at `from` and then `step` further each time.
template <class Tap>
void over_taps_of(const Depthwise& g, Tap&& tap) {
  for (size_t u = 0; u < g.kernel; ++u) {
    const Interval rows = windows_inside(u, g.height, g.out_height(), g.stride, g.tall.before);
    for (size_t v = 0; v < g.kernel; ++v) {
      const Interval inside = windows_inside(v, g.width, g.out_width(), g.stride, g.wide.before);
      if (inside.begin == inside.end) continue;
      const size_t column = inside.begin * g.stride + v - g.wide.before, count = inside.end - inside.begin;
      for (size_t i = rows.begin; i < rows.end; ++i) {
        const size_t from = (i * g.stride + u - g.tall.before) * g.width + column;
        // A constant step lets the compiler use vectors.
        if (g.stride == 1) {
          tap(u * g.kernel + v, i, inside.begin, from, count, std::integral_constant<size_t, 1>());
        } else {
          tap(u * g.kernel + v, i, inside.begin, from, count, g.stride);
        }
      }
    }
  }
}

}  // namespace

void depthwise_forward(const Depthwise& g, const real* x, const real* weight, const real* bias, real* y) {
  const size_t in_size = g.height * g.width, out_size = g.out_height() * g.out_width(), taps = g.kernel * g.kernel;
  parallel_for(g.batch * g.channels, [&](size_t plane) {
    const size_t c = plane % g.channels;
    const real* in = x + plane * in_size;
    real* out = y + plane * out_size;
    std::fill_n(out, out_size, bias ? bias[c] : real{0});
    over_taps_of(g, [&](size_t t, size_t i, size_t j, size_t from, size_t count, auto step) {
      const real w = weight[c * taps + t];
      real* row = out + i * g.out_width() + j;
      for (size_t n = 0; n < count; ++n) row[n] += w * in[from + n * step];
    });
  });
}

void depthwise_backward_data(const Depthwise& g, const real* dy, const real* weight, real* dx) {
  const size_t in_size = g.height * g.width, out_size = g.out_height() * g.out_width(), taps = g.kernel * g.kernel;
  parallel_for(g.batch * g.channels, [&](size_t plane) {
    const size_t c = plane % g.channels;
    real* in = dx + plane * in_size;
    std::fill_n(in, in_size, real{0});
    over_taps_of(g, [&](size_t t, size_t i, size_t j, size_t from, size_t count, auto step) {
      const real w = weight[c * taps + t];
      const real* row = dy + plane * out_size + i * g.out_width() + j;
      for (size_t n = 0; n < count; ++n) in[from + n * step] += w * row[n];
    });
  });
}

void depthwise_backward_weights(const Depthwise& g, const real* x, const real* dy, real* dweight, real* dbias) {
  const size_t in_size = g.height * g.width, out_size = g.out_height() * g.out_width(), taps = g.kernel * g.kernel;
  parallel_for(g.channels, [&](size_t c) {
    if (dweight) std::fill_n(dweight + c * taps, taps, real{0});
    if (dbias) dbias[c] = 0;
    for (size_t b = 0; b < g.batch; ++b) {
      const real* slopes = dy + (b * g.channels + c) * out_size;
      if (dbias) {
        for (size_t n = 0; n < out_size; ++n) dbias[c] += slopes[n];
      }
      if (!dweight) continue;
      const real* in = x + (b * g.channels + c) * in_size;
      over_taps_of(g, [&](size_t t, size_t i, size_t j, size_t from, size_t count, auto step) {
        const real* row = slopes + i * g.out_width() + j;
        real sum = 0;
        for (size_t n = 0; n < count; ++n) sum += row[n] * in[from + n * step];
        dweight[c * taps + t] += sum;
      });
    }
  });
}

}  // namespace attend::kernels
