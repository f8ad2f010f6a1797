// Windows that slide over images, with padding around them: what convolution and pooling share.
#pragma once

#include <algorithm>
#include <cstddef>

namespace attend::kernels {

struct Interval {
  size_t begin, end;
};

/// The windows o in [0, out) whose tap `k`, at o·stride + k − padding, lies in [0, in).
inline Interval windows_inside(size_t k, size_t in, size_t out, size_t stride, size_t padding) {
  const size_t begin = padding > k ? (padding - k + stride - 1) / stride : 0;
  const size_t end = in + padding > k ? (in + padding - k + stride - 1) / stride : 0;
  return {std::min(begin, out), std::clamp(end, std::min(begin, out), out)};
}

}  // namespace attend::kernels
