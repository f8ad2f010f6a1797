#include "attend/kernels/pooling.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/windows-inl.h"

namespace attend::kernels {
namespace {

// Not by oneDNN: on 64×64 plain planes of 56×56 with kernel 2 its max takes 177 + 64 ms forward + backward where these
// loops take 10 + 23, its mean 73 + 33 where these take 5 + 10 (one AVX2 core). In blocks of channels its max takes
// 34 + 26 and its mean 4 + 4, not counting the reorders there and back.

// Numbers of planes that one task takes.
constexpr size_t kTaskNumbers = size_t{1} << 16;

/// Runs `body(plane)` for all planes, several small ones per task.
template <class Body>
void over_planes(const Pool2d& g, Body&& body) {
  const size_t per_task = std::clamp<size_t>(kTaskNumbers / (g.height * g.width), 1, std::max<size_t>(g.planes, 1));
  parallel_for((g.planes + per_task - 1) / per_task, [&](size_t task) {
    const size_t end = std::min(g.planes, (task + 1) * per_task);
    for (size_t plane = task * per_task; plane < end; ++plane) body(plane);
  });
}

/// For row i of the windows, calls `tap(j, from, count, step)` for every tap of the window and the windows
/// [j, j + count) for which it lies inside the plane: the first at `from`, the next `step` further.
template <class Tap>
void over_taps(const Pool2d& g, size_t i, Tap&& tap) {
  const size_t wide = g.out_width();
  for (size_t u = 0; u < g.kernel; ++u) {
    const size_t row = i * g.stride + u;
    if (row < g.padding || row - g.padding >= g.height) continue;
    for (size_t v = 0; v < g.kernel; ++v) {
      const Interval inside = windows_inside(v, g.width, wide, g.stride, g.padding);
      const size_t from = (row - g.padding) * g.width + inside.begin * g.stride + v - g.padding;
      // A constant step lets the compiler use vectors.
      if (g.stride == 1) {
        tap(inside.begin, from, inside.end - inside.begin, std::integral_constant<size_t, 1>());
      } else if (g.stride == 2) {
        tap(inside.begin, from, inside.end - inside.begin, std::integral_constant<size_t, 2>());
      } else {
        tap(inside.begin, from, inside.end - inside.begin, g.stride);
      }
    }
  }
}

// NaN wins over every number, and stays.
inline bool beats(real value, real best) { return (value > best) | (value != value); }

}  // namespace

void max_pool2d_forward(const Pool2d& g, const real* x, real* y) {
  const size_t tall = g.out_height(), wide = g.out_width();
  over_planes(g, [&](size_t plane) {
    const real* in = x + plane * g.height * g.width;
    for (size_t i = 0; i < tall; ++i) {
      real* out = y + (plane * tall + i) * wide;
      std::fill_n(out, wide, -std::numeric_limits<real>::infinity());
      over_taps(g, i, [&](size_t j, size_t from, size_t count, auto step) {
        for (size_t n = 0; n < count; ++n) {
          const real value = in[from + n * step];
          out[j + n] = beats(value, out[j + n]) ? value : out[j + n];
        }
      });
    }
  });
}

void max_pool2d_backward(const Pool2d& g, const real* x, const real* dy, real* dx) {
  const size_t tall = g.out_height(), wide = g.out_width(), size = g.height * g.width;
  over_planes(g, [&](size_t plane) {
    const real* in = x + plane * size;
    std::fill_n(dx + plane * size, size, real{0});
    const memory::Scratch best(wide);
    const memory::Handle where_space(wide * sizeof(uint32_t));
    uint32_t* where = reinterpret_cast<uint32_t*>(where_space.bytes());
    for (size_t i = 0; i < tall; ++i) {
      // Start with the window's first tap inside the plane: it wins if all are −∞.
      const size_t top = i * g.stride > g.padding ? i * g.stride - g.padding : 0;
      for (size_t j = 0; j < wide; ++j) {
        const size_t left = j * g.stride > g.padding ? j * g.stride - g.padding : 0;
        where[j] = static_cast<uint32_t>(top * g.width + left);
        best.data()[j] = -std::numeric_limits<real>::infinity();
      }
      over_taps(g, i, [&](size_t j, size_t from, size_t count, auto step) {
        for (size_t n = 0; n < count; ++n) {
          const real value = in[from + n * step];
          const bool better = beats(value, best.data()[j + n]);
          best.data()[j + n] = better ? value : best.data()[j + n];
          where[j + n] = better ? static_cast<uint32_t>(from + n * step) : where[j + n];
        }
      });
      const real* given = dy + (plane * tall + i) * wide;
      for (size_t j = 0; j < wide; ++j) dx[plane * size + where[j]] += given[j];
    }
  });
}

void avg_pool2d_forward(const Pool2d& g, const real* x, real* y) {
  const size_t tall = g.out_height(), wide = g.out_width();
  const real share = real{1} / static_cast<real>(g.kernel * g.kernel);
  over_planes(g, [&](size_t plane) {
    const real* in = x + plane * g.height * g.width;
    for (size_t i = 0; i < tall; ++i) {
      real* out = y + (plane * tall + i) * wide;
      std::fill_n(out, wide, real{0});
      over_taps(g, i, [&](size_t j, size_t from, size_t count, auto step) {
        for (size_t n = 0; n < count; ++n) out[j + n] += in[from + n * step];
      });
      for (size_t j = 0; j < wide; ++j) out[j] *= share;
    }
  });
}

void avg_pool2d_backward(const Pool2d& g, const real* dy, real* dx) {
  const size_t tall = g.out_height(), wide = g.out_width(), size = g.height * g.width;
  const real share = real{1} / static_cast<real>(g.kernel * g.kernel);
  over_planes(g, [&](size_t plane) {
    real* to = dx + plane * size;
    std::fill_n(to, size, real{0});
    for (size_t i = 0; i < tall; ++i) {
      const real* given = dy + (plane * tall + i) * wide;
      over_taps(g, i, [&](size_t j, size_t from, size_t count, auto step) {
        for (size_t n = 0; n < count; ++n) to[from + n * step] += given[j + n] * share;
      });
    }
  });
}

}  // namespace attend::kernels
