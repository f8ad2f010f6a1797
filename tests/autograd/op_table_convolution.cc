#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

int64_t windows(int64_t extent, int64_t kernel, int64_t stride, int64_t padding) {
  return (extent + 2 * padding - kernel) / stride + 1;
}

Array conv_loops(const Arrays& in, const Conv2dOptions& o) {
  const Array &x = in[0], &w = in[1], &b = in[2];
  const int64_t H = x.dim(2), W = x.dim(3), KH = w.dim(2), KW = w.dim(3);
  Array y({x.dim(0), w.dim(0), windows(H, KH, o.stride, o.padding), windows(W, KW, o.stride, o.padding)});
  for (int64_t n = 0; n < y.dim(0); ++n) {
    for (int64_t out = 0; out < y.dim(1); ++out) {
      for (int64_t i = 0; i < y.dim(2); ++i) {
        for (int64_t j = 0; j < y.dim(3); ++j) {
          double sum = b(out);
          for (int64_t c = 0; c < x.dim(1); ++c) {
            for (int64_t u = 0; u < KH; ++u) {
              for (int64_t v = 0; v < KW; ++v) {
                const int64_t r = i * o.stride + u - o.padding, s = j * o.stride + v - o.padding;
                if (r >= 0 && r < H && s >= 0 && s < W) sum += w(out, c, u, v) * x(n, c, r, s);
              }
            }
          }
          y(n, out, i, j) = sum;
        }
      }
    }
  }
  return y;
}

Array depthwise_loops(const Arrays& in, int64_t stride) {
  const Array &x = in[0], &w = in[1], &b = in[2];
  const int64_t H = x.dim(2), W = x.dim(3), K = w.dim(2);
  const auto count = [&](int64_t extent) { return (extent + stride - 1) / stride; };
  const auto before = [&](int64_t extent) { return std::max<int64_t>((count(extent) - 1) * stride + K - extent, 0) / 2; };
  Array y({x.dim(0), x.dim(1), count(H), count(W)});
  for (int64_t n = 0; n < y.dim(0); ++n) {
    for (int64_t c = 0; c < y.dim(1); ++c) {
      for (int64_t i = 0; i < y.dim(2); ++i) {
        for (int64_t j = 0; j < y.dim(3); ++j) {
          double sum = b(c);
          for (int64_t u = 0; u < K; ++u) {
            for (int64_t v = 0; v < K; ++v) {
              const int64_t r = i * stride + u - before(H), s = j * stride + v - before(W);
              if (r >= 0 && r < H && s >= 0 && s < W) sum += w(c, 0, u, v) * x(n, c, r, s);
            }
          }
          y(n, c, i, j) = sum;
        }
      }
    }
  }
  return y;
}

Array pool_loops(const Array& x, const Pool2dOptions& o, bool average) {
  const int64_t stride = o.stride == 0 ? o.kernel : o.stride;
  Array y({x.dim(0), x.dim(1), windows(x.dim(2), o.kernel, stride, o.padding),
           windows(x.dim(3), o.kernel, stride, o.padding)});
  for (int64_t n = 0; n < y.dim(0); ++n) {
    for (int64_t c = 0; c < y.dim(1); ++c) {
      for (int64_t i = 0; i < y.dim(2); ++i) {
        for (int64_t j = 0; j < y.dim(3); ++j) {
          double best = -std::numeric_limits<double>::infinity(), sum = 0;
          for (int64_t u = 0; u < o.kernel; ++u) {
            for (int64_t v = 0; v < o.kernel; ++v) {
              const int64_t r = i * stride + u - o.padding, s = j * stride + v - o.padding;
              if (r < 0 || r >= x.dim(2) || s < 0 || s >= x.dim(3)) continue;
              best = std::max(best, x(n, c, r, s));
              sum += x(n, c, r, s);
            }
          }
          y(n, c, i, j) = average ? sum / static_cast<double>(o.kernel * o.kernel) : best;
        }
      }
    }
  }
  return y;
}

Array group_norm_loops(const Arrays& in, const GroupNormOptions& o) {
  const Array& x = in[0];
  const int64_t C = x.dim(1), per = C / o.groups;
  Array y(x.shape);
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t group = 0; group < o.groups; ++group) {
      std::vector<size_t> places;
      for (int64_t c = group * per; c < (group + 1) * per; ++c) {
        for (int64_t i = 0; i < x.dim(2); ++i) {
          for (int64_t j = 0; j < x.dim(3); ++j) places.push_back(x.at(n, c, i, j));
        }
      }
      double mean = 0, variance = 0;
      for (const size_t place : places) mean += x.v[place] / static_cast<double>(places.size());
      for (const size_t place : places) variance += std::pow(x.v[place] - mean, 2) / static_cast<double>(places.size());
      for (const size_t place : places) {
        const size_t channel = place / static_cast<size_t>(x.dim(2) * x.dim(3)) % static_cast<size_t>(C);
        const double hat = (x.v[place] - mean) / std::sqrt(variance + static_cast<double>(o.epsilon));
        const double value = hat * in[1].v[channel] + in[2].v[channel];
        y.v[place] = o.relu ? std::max(value, 0.0) : value;
      }
    }
  }
  return y;
}

}  // namespace

void add_convolution_rows(std::vector<OpRow>& table) {
  struct Kind {
    const char* name;
    Shape x, w;
    Conv2dOptions options;
  };
  for (const Kind& kind :
       {Kind{"3x3", {2, 3, 7, 6}, {5, 3, 3, 3}, {1, 1}}, Kind{"stride", {2, 2, 9, 7}, {4, 2, 3, 3}, {2, 0}},
        Kind{"1x1", {1, 4, 5, 5}, {3, 4, 1, 1}, {1, 0}}, Kind{"5x3", {2, 1, 8, 8}, {2, 1, 5, 3}, {1, 2}}}) {
    table.push_back({std::string("conv2d ") + kind.name,
                     {kind.x, kind.w, {kind.w[0]}},
                     [o = kind.options](const Vars& x) { return Vars{conv2d(x[0], x[1], x[2], o)}; },
                     [o = kind.options](const Arrays& x) { return Arrays{conv_loops(x, o)}; },
                     {{[] {
                         conv2d(Tensor::zeros({1, 3, 5, 5}), Tensor::zeros({2, 4, 3, 3}), Var());
                       },
                       "conv2d"},
                      {[] {
                         conv2d(Tensor::zeros({1, 3, 2, 2}), Tensor::zeros({2, 3, 3, 3}), Var());
                       },
                       "conv2d"},
                      {[] {
                         conv2d(Tensor::zeros({3, 5, 5}), Tensor::zeros({2, 3, 3, 3}), Var());
                       },
                       "conv2d"}}});
  }
  struct Channelwise {
    const char* name;
    Shape x, w;
    int64_t stride;
  };
  for (const Channelwise& kind : {Channelwise{"3x3", {2, 3, 7, 6}, {3, 1, 3, 3}, 1}, {"even", {2, 3, 8, 6}, {3, 1, 3, 3}, 2},
                                  {"odd", {1, 4, 7, 9}, {4, 1, 5, 5}, 2}, {"small", {2, 2, 1, 2}, {2, 1, 5, 5}, 2}}) {
    table.push_back({std::string("depthwise_conv2d ") + kind.name,
                     {kind.x, kind.w, {kind.w[0]}},
                     [s = kind.stride](const Vars& x) { return Vars{depthwise_conv2d(x[0], x[1], x[2], s)}; },
                     [s = kind.stride](const Arrays& x) { return Arrays{depthwise_loops(x, s)}; },
                     {{[] { depthwise_conv2d(Tensor::zeros({1, 3, 5, 5}), Tensor::zeros({3, 3, 3, 3})); },
                       "expected a weight [3, 1, K, K]"},
                      {[] { depthwise_conv2d(Tensor::zeros({1, 3, 5, 5}), Tensor::zeros({3, 1, 3, 3}), Var(), 0); },
                       "stride"}}});
  }
  for (const auto& [kind, o] : {std::pair{"plain", Pool2dOptions{2, 0, 0}}, {"overlap", Pool2dOptions{3, 2, 1}}}) {
    table.push_back({std::string("max_pool2d ") + kind,
                     {{2, 3, 6, 8}},
                     [o = o](const Vars& x) { return Vars{max_pool2d(x[0], o)}; },
                     [o = o](const Arrays& x) { return Arrays{pool_loops(x[0], o, false)}; },
                     {{[] {
                         max_pool2d(Tensor::zeros({3, 5, 5}));
                       },
                       "max_pool2d"}},
                     {},
                     1e-6});
    table.push_back({std::string("avg_pool2d ") + kind,
                     {{2, 3, 6, 8}},
                     [o = o](const Vars& x) { return Vars{avg_pool2d(x[0], o)}; },
                     [o = o](const Arrays& x) { return Arrays{pool_loops(x[0], o, true)}; },
                     {{[] {
                         avg_pool2d(Tensor::zeros({3, 5, 5}));
                       },
                       "avg_pool2d"}}});
  }
  struct Norm {
    const char* name;
    Shape x;
    GroupNormOptions options;
  };
  for (const Norm& norm :
       {Norm{"of all", {2, 3, 5, 4}, {.groups = 1}}, Norm{"of two", {2, 6, 5, 7}, {.groups = 3}},
        Norm{"of each", {3, 4, 6, 6}, {.groups = 4}}, Norm{"relu", {2, 4, 5, 7}, {.groups = 2, .relu = true}}}) {
    table.push_back({std::string("group_norm ") + norm.name,
                     {norm.x, {norm.x[1]}, {norm.x[1]}},
                     [o = norm.options](const Vars& x) { return Vars{group_norm(x[0], x[1], x[2], o)}; },
                     [o = norm.options](const Arrays& x) { return Arrays{group_norm_loops(x, o)}; },
                     {{[] {
                         group_norm(Tensor::zeros({1, 4, 5, 5}), Tensor::zeros({4}), Tensor::zeros({4}), {.groups = 3});
                       },
                       "divide the 4 channels"},
                      {[] {
                         group_norm(Tensor::zeros({1, 4, 5, 5}), Tensor::zeros({3}), Tensor::zeros({4}));
                       },
                       "gain and bias [4]"}},
                     {},
                     norm.options.relu ? 1e-6 : 1e-3});
  }
}

}  // namespace attend::test
