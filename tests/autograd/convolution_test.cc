// Convolution and pooling against plain double loops: values, gradients, what is kept, threads, and refusals.
#include "attend/autograd/ops/convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/memory.h"
#include "attend/kernels/best_product.h"
#include "attend/kernels/convolution.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/pooling.h"
#include "tests/support/array.h"

namespace attend::test {
namespace {

constexpr double kEpsilon = std::numeric_limits<real>::epsilon();
constexpr real kInfinity = std::numeric_limits<real>::infinity();

// ---- Convolution ---------------------------------------------------------------------------------------------------

struct ConvCase {
  int64_t batch, channels, height, width, outputs, kernel_height, kernel_width, stride, padding;

  Shape x() const { return {batch, channels, height, width}; }
  Shape weight() const { return {outputs, channels, kernel_height, kernel_width}; }
  Shape y() const {
    return {batch, outputs, (height + 2 * padding - kernel_height) / stride + 1,
            (width + 2 * padding - kernel_width) / stride + 1};
  }
  Conv2dOptions options() const { return {.stride = stride, .padding = padding}; }
  kernels::Conv2d geometry() const {
    const auto size = [](int64_t extent) { return static_cast<size_t>(extent); };
    return {.batch = size(batch),
            .channels = size(channels),
            .height = size(height),
            .width = size(width),
            .outputs = size(outputs),
            .kernel_height = size(kernel_height),
            .kernel_width = size(kernel_width),
            .stride = size(stride),
            .padding = size(padding)};
  }
};

std::ostream& operator<<(std::ostream& out, const ConvCase& c) {
  return out << c.x() << " with " << c.weight() << ", stride " << c.stride << ", padding " << c.padding;
}

const std::vector<ConvCase> kConvCases = {
    {1, 1, 1, 1, 1, 1, 1, 1, 0},     // the smallest
    {2, 3, 7, 5, 4, 3, 3, 1, 0},     // colours, not square
    {3, 3, 7, 5, 4, 3, 3, 1, 1},     //
    {2, 3, 9, 8, 16, 5, 5, 2, 2},    //
    {5, 1, 12, 10, 8, 5, 5, 1, 2},   // one channel
    {4, 1, 6, 6, 3, 3, 3, 2, 1},     //
    {2, 16, 8, 6, 24, 3, 3, 1, 1},   // whole blocks of 8 channels
    {9, 16, 9, 7, 16, 3, 3, 2, 1},   // the last row and column left over
    {3, 32, 7, 9, 16, 3, 3, 2, 0},   //
    {2, 12, 6, 7, 20, 1, 1, 1, 0},   // a product per pixel; blocks of channels not full
    {2, 8, 6, 7, 8, 1, 1, 2, 0},     //
    {2, 8, 5, 5, 8, 1, 1, 1, 1},     // windows that see nothing but padding
    {2, 4, 6, 9, 5, 3, 1, 1, 1},     // kernels that are not square
    {2, 8, 6, 9, 8, 1, 5, 1, 2},     //
    {1, 8, 3, 3, 8, 5, 5, 1, 2},     // a kernel larger than the image
    {2, 2, 20, 20, 3, 3, 3, 3, 2},   //
    {70, 2, 5, 4, 3, 3, 3, 1, 1},    // a batch cut into slices, with a rest
    {2, 40, 5, 6, 300, 3, 3, 1, 1},  // several blocks of channels and outputs
    {2, 24, 40, 41, 8, 3, 3, 1, 1},  // several blocks of pixels
};

/// A result and, to know what rounding may do, the sum of the magnitudes that went into each element.
struct Sum {
  Array value, magnitude;
  explicit Sum(const Shape& shape) : value(shape), magnitude(shape) {}
  void add(size_t at, double term) {
    value.v[at] += term;
    magnitude.v[at] += std::abs(term);
  }
};

struct ConvReference {
  Sum y, dx, dweight, dbias;
};

ConvReference convolved(const ConvCase& c, const Array& x, const Array& w, const Array* bias, const Array& dy) {
  ConvReference r{Sum(dy.shape), Sum(x.shape), Sum(w.shape), Sum({c.outputs})};
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t o = 0; o < c.outputs; ++o) {
      for (int64_t i = 0; i < dy.dim(2); ++i) {
        for (int64_t j = 0; j < dy.dim(3); ++j) {
          const size_t at = dy.at(b, o, i, j);
          if (bias) r.y.add(at, (*bias)(o));
          r.dbias.add(static_cast<size_t>(o), dy.v[at]);
          for (int64_t n = 0; n < c.channels * c.kernel_height * c.kernel_width; ++n) {
            const int64_t v = n % c.kernel_width, u = n / c.kernel_width % c.kernel_height;
            const int64_t channel = n / (c.kernel_width * c.kernel_height);
            const int64_t row = i * c.stride + u - c.padding, column = j * c.stride + v - c.padding;
            if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
            const size_t in = x.at(b, channel, row, column), tap = w.at(o, channel, u, v);
            r.y.add(at, x.v[in] * w.v[tap]);
            r.dx.add(in, dy.v[at] * w.v[tap]);
            r.dweight.add(tap, dy.v[at] * x.v[in]);
          }
        }
      }
    }
  }
  return r;
}

void expect_near(const char* what, const Tensor& got, const Sum& expected) {
  ASSERT_EQ(got.shape(), expected.value.shape) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got.data()[i], expected.value.v[i], 32 * kEpsilon * expected.magnitude.v[i]) << what << " at " << i;
  }
}

void expect_same_bits(const char* what, const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a.data()[i], b.data()[i]) << what << " at " << i;
}

struct ConvInputs {
  Array x, weight, bias, dy;
  explicit ConvInputs(const ConvCase& c) {
    Random random(11);
    x = random_array(c.x(), random);
    weight = random_array(c.weight(), random);
    bias = random_array({c.outputs}, random);
    dy = random_array(c.y(), random);
  }
};

TEST(Conv2d, ValuesAndGradientsMatchPlainLoops) {
  for (const ConvCase& c : kConvCases) {
    for (const bool with_bias : {true, false}) {
      SCOPED_TRACE(::testing::Message() << c << (with_bias ? " and bias" : ""));
      const ConvInputs in(c);
      const ConvReference expected = convolved(c, in.x, in.weight, with_bias ? &in.bias : nullptr, in.dy);
      const Var x = Var::leaf(to_tensor(in.x)), weight = Var::leaf(to_tensor(in.weight));
      const Var bias = with_bias ? Var::leaf(to_tensor(in.bias)) : Var();
      Tape tape;
      const Var y = conv2d(x, weight, bias, c.options());
      expect_near("y", y.value(), expected.y);
      tape.backward(y, to_tensor(in.dy));
      expect_near("dx", x.gradient(), expected.dx);
      expect_near("dweight", weight.gradient(), expected.dweight);
      if (with_bias) expect_near("dbias", bias.gradient(), expected.dbias);
    }
  }
}

TEST(Conv2d, ByProductMatchesPlainLoops) {
  for (const ConvCase& c : kConvCases) {
    SCOPED_TRACE(::testing::Message() << c);
    const ConvInputs in(c);
    const ConvReference expected = convolved(c, in.x, in.weight, &in.bias, in.dy);
    const Tensor x = to_tensor(in.x), weight = to_tensor(in.weight), bias = to_tensor(in.bias), dy = to_tensor(in.dy);
    Tensor y(c.y()), dx(c.x());
    kernels::conv2d_forward_by_product(c.geometry(), x.data(), weight.data(), bias.data(), y.data());
    expect_near("y", y, expected.y);
    kernels::conv2d_backward_data_by_product(c.geometry(), dy.data(), weight.data(), dx.data());
    expect_near("dx", dx, expected.dx);
  }
}

TEST(Conv2d, OneThreadAndTwoGiveTheSameBits) {
  const int before = kernels::threads();
  for (const ConvCase& c : kConvCases) {
    SCOPED_TRACE(::testing::Message() << c);
    const ConvInputs in(c);
    std::vector<Tensor> results[2];
    for (const int threads : {1, 2}) {
      kernels::set_threads(threads);
      const Var x = Var::leaf(to_tensor(in.x)), weight = Var::leaf(to_tensor(in.weight));
      const Var bias = Var::leaf(to_tensor(in.bias));
      Tape tape;
      const Var y = conv2d(x, weight, bias, c.options());
      tape.backward(y, to_tensor(in.dy));
      results[threads - 1] = {y.value(), x.gradient(), weight.gradient(), bias.gradient()};
    }
    const char* const names[] = {"y", "dx", "dweight", "dbias"};
    for (size_t i = 0; i < 4; ++i) expect_same_bits(names[i], results[0][i], results[1][i]);
  }
  kernels::set_threads(before);
}

TEST(Conv2d, RunsInsideAParallelLoop) {
  const ConvCase c{6, 16, 9, 9, 16, 3, 3, 1, 1};
  const ConvInputs in(c);
  const Tensor x = to_tensor(in.x), weight = to_tensor(in.weight), bias = to_tensor(in.bias);
  const Tensor expected = conv2d(x, weight, bias, c.options()).value();
  std::vector<Tensor> got(16);
  kernels::parallel_for(got.size(), [&](size_t i) { got[i] = conv2d(x, weight, bias, c.options()).value(); });
  for (const Tensor& y : got) expect_same_bits("y", y, expected);
}

TEST(Conv2d, ManyShapesInTurn) {
  // More shapes than are remembered, twice: those that were dropped are made again.
  Random random(3);
  for (int round = 0; round < 2; ++round) {
    for (int64_t width = 3; width < 75; ++width) {
      const Tensor x = to_tensor(random_array({1, 8, 3, width}, random));
      const Tensor y = conv2d(x, Tensor::full({8, 8, 3, 3}, 1)).value();
      double sum = 0;
      for (int64_t n = 0; n < 8 * 3; ++n) {
        for (int64_t j = 0; j < 3; ++j) sum += x.data()[n * width + j];
      }
      ASSERT_NEAR(y.data()[0], sum, 1e-4) << "width " << width;
    }
  }
}

TEST(Conv2d, GivesItsScratchBack) {
  const ConvCase c{4, 16, 12, 12, 16, 3, 3, 1, 1};
  const ConvInputs in(c);
  const Tensor x = to_tensor(in.x), weight = to_tensor(in.weight);
  const size_t before = memory::usage().in_use;
  conv2d(x, weight, {}, c.options());
  EXPECT_EQ(memory::usage().in_use, before);
}

TEST(Conv2d, OnlyWantedGradients) {
  const ConvCase c{3, 8, 6, 6, 8, 3, 3, 1, 1};
  const ConvInputs in(c);
  const ConvReference expected = convolved(c, in.x, in.weight, &in.bias, in.dy);
  for (int which = 0; which < 8; ++which) {
    SCOPED_TRACE(which);
    const auto var = [&](int bit, const Array& value) {
      return which & bit ? Var::leaf(to_tensor(value)) : Var(to_tensor(value));
    };
    const Var x = var(1, in.x), weight = var(2, in.weight), bias = var(4, in.bias);
    Tape tape;
    const Var y = conv2d(x, weight, bias, c.options());
    EXPECT_EQ(y.tracked(), which != 0);
    if (which == 0) continue;
    tape.backward(y, to_tensor(in.dy));
    if (which & 1) expect_near("dx", x.gradient(), expected.dx);
    if (which & 2) expect_near("dweight", weight.gradient(), expected.dweight);
    if (which & 4) expect_near("dbias", bias.gradient(), expected.dbias);
  }
}

TEST(Conv2d, AnEmptyBatch) {
  const Var x = Var::leaf(Tensor::zeros({0, 3, 5, 5})), weight = Var::leaf(Tensor::full({2, 3, 3, 3}, 1));
  const Var bias = Var::leaf(Tensor::full({2}, 1));
  Tape tape;
  const Var y = conv2d(x, weight, bias);
  EXPECT_EQ(y.shape(), (Shape{0, 2, 3, 3}));
  tape.backward(y, Tensor::zeros({0, 2, 3, 3}));
  EXPECT_EQ(x.gradient().shape(), x.shape());
  for (const real g : weight.gradient()) EXPECT_EQ(g, 0);
  for (const real g : bias.gradient()) EXPECT_EQ(g, 0);
}

// ---- Pooling -------------------------------------------------------------------------------------------------------

struct PoolCase {
  int64_t batch, channels, height, width, kernel, stride, padding;

  Shape x() const { return {batch, channels, height, width}; }
  int64_t step() const { return stride > 0 ? stride : kernel; }
  Shape y() const {
    return {batch, channels, (height + 2 * padding - kernel) / step() + 1, (width + 2 * padding - kernel) / step() + 1};
  }
  Pool2dOptions options() const { return {.kernel = kernel, .stride = stride, .padding = padding}; }
};

std::ostream& operator<<(std::ostream& out, const PoolCase& c) {
  return out << c.x() << ", kernel " << c.kernel << ", stride " << c.stride << ", padding " << c.padding;
}

const std::vector<PoolCase> kPoolCases = {
    {1, 1, 1, 1, 1, 1, 0}, {2, 3, 6, 8, 2, 0, 0},  {2, 3, 7, 5, 2, 2, 0},    {2, 2, 7, 9, 3, 2, 1},
    {1, 4, 5, 5, 3, 1, 1}, {3, 2, 11, 7, 5, 2, 2}, {1, 2, 9, 10, 3, 4, 1},   {2, 1, 4, 40, 4, 1, 2},
    {1, 1, 8, 8, 2, 3, 0}, {2, 1, 3, 3, 3, 0, 1},  {5, 40, 20, 21, 2, 2, 0},
};

struct PoolReference {
  Sum max, max_dx, mean, mean_dx;
};

PoolReference pooled(const PoolCase& c, const Array& x, const Array& dy) {
  PoolReference r{Sum(dy.shape), Sum(x.shape), Sum(dy.shape), Sum(x.shape)};
  const double size = static_cast<double>(c.kernel * c.kernel);
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t channel = 0; channel < c.channels; ++channel) {
      for (int64_t i = 0; i < dy.dim(2); ++i) {
        for (int64_t j = 0; j < dy.dim(3); ++j) {
          const size_t at = dy.at(b, channel, i, j);
          size_t best = x.size();
          for (int64_t n = 0; n < c.kernel * c.kernel; ++n) {
            const int64_t row = i * c.step() + n / c.kernel - c.padding;
            const int64_t column = j * c.step() + n % c.kernel - c.padding;
            if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
            const size_t in = x.at(b, channel, row, column);
            if (best == x.size() || x.v[in] > x.v[best]) best = in;
            r.mean.add(at, x.v[in] / size);
            r.mean_dx.add(in, dy.v[at] / size);
          }
          r.max.add(at, x.v[best]);
          r.max_dx.add(best, dy.v[at]);
        }
      }
    }
  }
  return r;
}

TEST(Pool2d, ValuesAndGradientsMatchPlainLoops) {
  for (const PoolCase& c : kPoolCases) {
    for (const bool ties : {false, true}) {
      SCOPED_TRACE(::testing::Message() << c << (ties ? ", ties" : ""));
      Random random(5);
      Array values = random_array(c.x(), random);
      if (ties) {  // negative too: padding must not win
        for (double& v : values.v) v = std::round(v) - 3;
      }
      const Array dy = random_array(c.y(), random);
      const PoolReference expected = pooled(c, values, dy);
      {
        const Var x = Var::leaf(to_tensor(values));
        Tape tape;
        const Var y = max_pool2d(x, c.options());
        expect_near("max", y.value(), expected.max);
        tape.backward(y, to_tensor(dy));
        expect_near("gradient of max", x.gradient(), expected.max_dx);
      }
      {
        const Var x = Var::leaf(to_tensor(values));
        Tape tape;
        const Var y = avg_pool2d(x, c.options());
        expect_near("mean", y.value(), expected.mean);
        tape.backward(y, to_tensor(dy));
        expect_near("gradient of mean", x.gradient(), expected.mean_dx);
      }
    }
  }
}

TEST(Pool2d, OfEqualValuesTheFirstReceivesTheGradient) {
  const Var x = Var::leaf(Tensor::of({1, 1, 2, 4}, {1, 7, 2, 2,  //
                                                    7, 7, 2, 2}));
  Tape tape;
  const Var y = max_pool2d(x);
  tape.backward(y, Tensor::of({1, 1, 1, 2}, {3, 5}));
  const std::vector<real> expected = {0, 3, 5, 0, 0, 0, 0, 0};
  EXPECT_EQ(std::vector<real>(x.gradient().begin(), x.gradient().end()), expected);
}

TEST(Pool2d, InfinitiesAndNaN) {
  const real nan = std::numeric_limits<real>::quiet_NaN();
  const Var x = Var::leaf(Tensor::of({1, 1, 2, 6}, {-kInfinity, -kInfinity, 1, nan, kInfinity, 4,  //
                                                    -kInfinity, -kInfinity, 5, 2, 3, kInfinity}));
  Tape tape;
  const Var y = max_pool2d(x);
  EXPECT_EQ(y.value().data()[0], -kInfinity);
  EXPECT_TRUE(std::isnan(y.value().data()[1]));
  EXPECT_EQ(y.value().data()[2], kInfinity);
  tape.backward(y, Tensor::of({1, 1, 1, 3}, {1, 2, 3}));
  const std::vector<real> expected = {1, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(std::vector<real>(x.gradient().begin(), x.gradient().end()), expected);
}

TEST(Pool2d, TheMeanCountsPaddingAsZeros) {
  const Tensor x = Tensor::full({1, 1, 2, 2}, 9);
  const Tensor y = avg_pool2d(x, {.kernel = 3, .stride = 1, .padding = 1}).value();
  for (const real v : y) EXPECT_FLOAT_EQ(static_cast<float>(v), 4);  // four nines of nine places
}

// ---- Refusals ------------------------------------------------------------------------------------------------------

std::string refusal(const std::function<Var()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing refused";
}

Var zeros(const Shape& shape) { return Tensor::zeros(shape); }

TEST(Conv2d, RefusesWhatItCannotDo) {
  const Var x = zeros({2, 3, 5, 6}), flat = zeros({3, 5, 6}), no_rows = zeros({2, 3, 0, 6});
  const Var w = zeros({4, 3, 3, 3}), matrix = zeros({4, 27}), two_channels = zeros({4, 2, 3, 3});
  const Var no_taps = zeros({4, 3, 0, 3}), tall = zeros({4, 3, 8, 3}), three = zeros({3});
  const std::pair<std::function<Var()>, std::string> refused[] = {
      {[&] { return conv2d({}, w); }, "conv2d: expected images, got an undefined tensor"},
      {[&] { return conv2d(flat, w); }, "conv2d: expected images [B, C, H, W], got [3, 5, 6]"},
      {[&] { return conv2d(no_rows, w); }, "conv2d: expected images with channels and pixels, got [2, 3, 0, 6]"},
      {[&] { return conv2d(x, {}); }, "conv2d: expected a weight, got an undefined tensor"},
      {[&] { return conv2d(x, matrix); }, "conv2d: expected a weight [O, C, KH, KW], got [4, 27]"},
      {[&] { return conv2d(x, two_channels); },
       "conv2d: the weight must have the 3 channels of x [2, 3, 5, 6], got [4, 2, 3, 3]"},
      {[&] { return conv2d(x, no_taps); }, "conv2d: expected a weight with elements, got [4, 3, 0, 3]"},
      {[&] { return conv2d(x, w, three); }, "conv2d: the bias must be [4] for weight [4, 3, 3, 3], got [3]"},
      {[&] { return conv2d(x, w, {}, {.stride = 0}); }, "conv2d: the stride must be within 1 … 1048576, got 0"},
      {[&] { return conv2d(x, w, {}, {.padding = -1}); }, "conv2d: the padding must be within 0 … 1048576, got -1"},
      {[&] { return conv2d(x, tall, {}, {.padding = 1}); },
       "conv2d: x with its padding must be at least as large as the kernel, got x [2, 3, 5, 6], padding 1 and weight "
       "[4, 3, 8, 3]"},
  };
  for (const auto& [call, says] : refused) EXPECT_EQ(refusal(call), says);
}

TEST(Pool2d, RefusesWhatItCannotDo) {
  const Var x = zeros({2, 3, 5, 6}), flat = zeros({5, 6});
  const std::pair<std::function<Var()>, std::string> refused[] = {
      {[&] { return max_pool2d({}); }, "max_pool2d: expected images, got an undefined tensor"},
      {[&] { return avg_pool2d(flat); }, "avg_pool2d: expected images [B, C, H, W], got [5, 6]"},
      {[&] { return max_pool2d(x, {.kernel = 0}); }, "max_pool2d: the kernel must be within 1 … 1048576, got 0"},
      {[&] { return avg_pool2d(x, {.stride = -1}); }, "avg_pool2d: the stride must be within 0 … 1048576, got -1"},
      {[&] { return max_pool2d(x, {.kernel = 3, .padding = 2}); },
       "max_pool2d: the padding must be within 0 … kernel/2 = 1, got 2"},
      {[&] { return avg_pool2d(x, {.kernel = 6}); },
       "avg_pool2d: x with its padding must be at least as large as the kernel, got x [2, 3, 5, 6], padding 0 and "
       "kernel 6"},
  };
  for (const auto& [call, says] : refused) EXPECT_EQ(refusal(call), says);
}

// ---- The machine's limit -------------------------------------------------------------------------------------------

TEST(BestProduct, NamesOneOfItsTrials) {
  const kernels::BestProduct best = kernels::best_product(0.01);
  EXPECT_GT(best.gflops, 0.1);
  EXPECT_LT(best.gflops, 1e6);
  EXPECT_GE(best.m * best.n * best.k, 64u * 1024u * 256u);
  EXPECT_TRUE(best.entry == "sgemm NN" || best.entry == "sgemm NT" || best.entry == "matmul packed") << best.entry;
}

}  // namespace
}  // namespace attend::test
