// What lengths promise: padding never changes a result, in either direction.
#include <gtest/gtest.h>

#include <algorithm>

#include "attend/autograd/ops.h"
#include "tests/support/array.h"

namespace attend {
namespace {

Tensor weak_normal(const Shape& shape, uint64_t stream) {
  Random random(1, stream);
  Tensor t = test::to_tensor(test::random_array(shape, random));
  for (real& x : t.values()) x *= real(0.3);  // weights of a network that forgets, so that roundings do not grow
  return t;
}

struct Net {
  Cell cell;
  RecurrentWeights w;
  explicit Net(Cell c, int64_t I, int64_t H) : cell(c) {
    const int64_t width = static_cast<int64_t>(kernels::gates_of(c)) * H;
    w = {Var::leaf(weak_normal({width, I}, 1)), Var::leaf(weak_normal({width, H}, 2)),
         Var::leaf(weak_normal({width}, 3)), c == Cell::gru ? Var::leaf(weak_normal({H}, 4)) : Var()};
  }
};

TEST(Recurrent, PaddedBatchEqualsEachSequenceAlone) {
  const int64_t T = 9, I = 5, H = 33;
  const std::vector<int32_t> lengths{4, 9, 1, 6};
  for (const Cell cell : {Cell::rnn, Cell::gru, Cell::lstm}) {
    for (const bool reverse : {false, true}) {
      const Net net(cell, I, H);
      Tensor x = weak_normal({T, 4, I}, 5);
      for (int64_t t = 0; t < T; ++t) {
        for (int64_t b = 0; b < 4; ++b) {
          if (t >= lengths[static_cast<size_t>(b)]) std::fill_n(x.data() + (t * 4 + b) * I, I, real(1e6));
        }
      }
      const RecurrentOutput all = recurrent(cell, net.w, x, {}, lengths, reverse);
      // Other numbers in the padding: the same bits.
      Tensor other = x.clone();
      for (real& value : other.values()) value = value == real(1e6) ? real(-3) : value;
      const Tensor again = recurrent(cell, net.w, other, {}, lengths, reverse).y.value();
      ASSERT_TRUE(std::equal(again.begin(), again.end(), all.y.value().begin()));
      for (int64_t b = 0; b < 4; ++b) {
        const int64_t length = lengths[static_cast<size_t>(b)];
        const Tensor alone = slice(slice(x, 0, 0, length), 1, b, b + 1).value();
        const RecurrentOutput one = recurrent(cell, net.w, alone, {}, {}, reverse);
        for (int64_t h = 0; h < H; ++h) {
          for (int64_t t = 0; t < T; ++t) {
            const real expected = t < length ? one.y.value().data()[t * H + h] : 0;
            ASSERT_NEAR(all.y.value().data()[(t * 4 + b) * H + h], expected, 1e-5) << "sequence " << b << " step " << t;
          }
          ASSERT_NEAR(all.last.h.value().data()[b * H + h], one.last.h.value().data()[h], 1e-5);
        }
      }
    }
  }
}

TEST(Recurrent, PaddingHasNoGradient) {
  const Net net(Cell::lstm, 3, 8);
  const std::vector<int32_t> lengths{2, 5};
  const auto gradient = [&](real padding) {
    Tensor x = weak_normal({5, 2, 3}, 6);
    for (int64_t t = 2; t < 5; ++t) std::fill_n(x.data() + t * 2 * 3, 3, padding);
    const Var input = Var::leaf(x);
    Var weight = net.w.input;
    weight.clear_gradient();
    Tape tape;
    tape.backward(recurrent(Cell::lstm, net.w, input, {}, lengths).y, weak_normal({5, 2, 8}, 7));
    for (int64_t t = 2; t < 5; ++t) {
      for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(input.gradient().data()[t * 2 * 3 + i], 0);
    }
    return std::vector<real>(weight.gradient().begin(), weight.gradient().end());
  };
  EXPECT_EQ(gradient(0), gradient(1000));
}

TEST(Recurrent, StepsEqualTheWholeSequence) {
  for (const Cell cell : {Cell::rnn, Cell::gru, Cell::lstm}) {
    const Net net(cell, 4, 20);
    const Tensor x = weak_normal({6, 3, 4}, 8);
    const RecurrentOutput whole = recurrent(cell, net.w, x);
    RecurrentState state;
    for (int64_t t = 0; t < 6; ++t) {
      const RecurrentOutput step = recurrent(cell, net.w, x.rows(t, t + 1), state);
      state = step.last;
      for (size_t i = 0; i < state.h.size(); ++i) {
        ASSERT_NEAR(state.h.value().data()[i], whole.y.value()[t].data()[i], 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace attend
