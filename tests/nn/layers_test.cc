#include "attend/nn/layers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/nn/initial.h"
#include "attend/nn/recurrent.h"

namespace attend::nn {
namespace {

template <class Layer>
std::vector<std::string> names(Layer& layer) {
  std::vector<std::string> all;
  for (const NamedParam& p : parameters(layer)) all.push_back(p.name);
  return all;
}

TEST(Layers, NameTheirParameters) {
  Random random(1);
  Linear linear(3, 4, random), plain(3, 4, random, false);
  EXPECT_EQ(names(linear), (std::vector<std::string>{"weight", "bias"}));
  EXPECT_EQ(names(plain), (std::vector<std::string>{"weight"}));
  Mlp mlp({3, 5, 2}, Activation::relu, random);
  EXPECT_EQ(names(mlp), (std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias"}));
  Recurrent net({.cell = Cell::gru, .input = 3, .hidden = 4, .layers = 2, .bidirectional = true}, random);
  const std::vector<std::string> all = names(net);
  EXPECT_EQ(all.size(), 16u);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 16u);
  EXPECT_EQ(all[4], "0.backward.input_weight");
  Conv2d conv(1, 2, 3, random);
  EXPECT_EQ(names(conv), (std::vector<std::string>{"weight", "bias"}));
}

TEST(Layers, Shapes) {
  Random random(1);
  const Var x = Tensor::zeros({2, 5, 3});
  EXPECT_EQ(Linear(3, 7, random)(x).shape(), (Shape{2, 5, 7}));
  EXPECT_EQ(Mlp({3, 9, 2}, Activation::gelu, random)(x).shape(), (Shape{2, 5, 2}));
  EXPECT_EQ(LayerNorm(3)(x).shape(), x.shape());
  EXPECT_EQ(Embedding(10, 4, random)(Ids({2, 2}, {0, 9, 3, 3})).shape(), (Shape{2, 2, 4}));
  EXPECT_EQ(Conv2d(3, 8, 3, random, {.stride = 1, .padding = 1})(Tensor::zeros({1, 3, 6, 6})).shape(),
            (Shape{1, 8, 6, 6}));
  EXPECT_THROW(Linear(4, 7, random)(x), Error);
}

TEST(Layers, RecurrentStackAndStep) {
  Random random(2);
  const Recurrent both({.cell = Cell::lstm, .input = 3, .hidden = 4, .layers = 2, .bidirectional = true}, random);
  const Var x = initial("normal", {5, 2, 3}, random);
  const Recurrent::Output out = both(x, {5, 2});
  EXPECT_EQ(out.y.shape(), (Shape{5, 2, 8}));
  EXPECT_EQ(out.last.size(), 4u);
  EXPECT_THROW(both.step(select(x, 0), out.last), Error);

  const Recurrent net({.cell = Cell::gru, .input = 3, .hidden = 4, .layers = 2}, random);
  const Recurrent::Output whole = net(x);
  std::vector<RecurrentState> state(2);
  for (int64_t t = 0; t < 5; ++t) {
    state = net.step(select(x, t), state);
    for (size_t i = 0; i < state[1].h.size(); ++i) {
      ASSERT_NEAR(state[1].h.value().data()[i], whole.y.value()[t].data()[i], 1e-5);
    }
  }
}

TEST(Layers, DropoutOnlyWhileTraining) {
  Random random(3);
  const Dropout drop(real(0.5));
  const Var x = Tensor::full({1000}, 1);
  EXPECT_EQ(drop(x, nullptr).value().data(), x.value().data());
  const Tensor y = drop(x, &random).value(), z = drop(x, &random).value();
  size_t same = 0, zeros = 0;
  for (size_t i = 0; i < 1000; ++i) same += y.data()[i] == z.data()[i], zeros += y.data()[i] == 0;
  EXPECT_NEAR(static_cast<double>(zeros), 500, 60);
  EXPECT_NEAR(static_cast<double>(same), 500, 60) << "each call draws a new pattern";
  EXPECT_THROW(Dropout(1), Error);
}

TEST(Layers, Positions) {
  const Tensor p = sinusoidal_positions(50, 8);
  EXPECT_EQ(p.data()[0], 0);
  EXPECT_EQ(p.data()[1], 1);
  EXPECT_NEAR(p.data()[7 * 8 + 2], std::sin(7 / std::pow(10000.0, 2.0 / 8)), 1e-6);
  EXPECT_NEAR(p.data()[7 * 8 + 5], std::cos(7 / std::pow(10000.0, 4.0 / 8)), 1e-6);
  Random random(4);
  Positions learned = Positions::learned(6, 8, random), fixed = Positions::sinusoidal(8);
  EXPECT_EQ(names(learned), (std::vector<std::string>{"table"}));
  EXPECT_TRUE(names(fixed).empty());
  const Var x = Tensor::zeros({2, 3, 8});
  for (const Positions* positions : {&learned, &fixed}) {
    const Tensor whole = (*positions)(Tensor::zeros({2, 6, 8})).value(), later = (*positions)(x, 3).value();
    for (int64_t i = 0; i < 24; ++i) ASSERT_EQ(later.data()[i], whole.data()[24 + i]);
  }
  EXPECT_THROW(learned(x, 4), Error);
}

TEST(Initialisers, ByName) {
  Random random(5);
  const Tensor g = initial("glorot", {200, 100}, random);
  double largest = 0, square = 0;
  for (const real x : g) largest = std::max(largest, std::abs(double{x})), square += double{x} * x;
  EXPECT_LE(largest, std::sqrt(6.0 / 300) + 1e-6);
  EXPECT_NEAR(square / 20000, 2.0 / 300, 2e-4);

  const Tensor q = initial("orthogonal", {3 * 20, 20}, random);
  for (int64_t gate = 0; gate < 3; ++gate) {
    for (int64_t i = 0; i < 20; ++i) {
      for (int64_t j = 0; j < 20; ++j) {
        double dot = 0;
        for (int64_t k = 0; k < 20; ++k)
          dot += double{q.data()[(gate * 20 + i) * 20 + k]} * q.data()[(gate * 20 + j) * 20 + k];
        ASSERT_NEAR(dot, i == j ? 1 : 0, 1e-5);
      }
    }
  }
  for (const real x : initial("uniform", {4, 25}, random)) ASSERT_LE(std::abs(x), 0.2 + 1e-6);
  Random a(6), b(6);
  const Tensor first = initial("normal", {7, 7}, a), again = initial("normal", {7, 7}, b);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), again.begin()));
  try {
    initial("xavier", {2, 2}, random);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("glorot, orthogonal, uniform"), std::string::npos) << error.what();
  }
  EXPECT_THROW(cell_named("lsmt"), Error);
}

TEST(Initial, IsZeroWhereWeightsAreReadNext) {
  Random random(1);
  {
    const Blank blank;
    const Tensor weight = initial("orthogonal", {3, 2}, random);
    for (const real x : weight.values()) EXPECT_EQ(x, 0);
  }
  EXPECT_EQ(random.position(), 0u) << "nothing was drawn";
  EXPECT_NE(initial("orthogonal", {3, 2}, random).data()[0], 0);
}

TEST(Initial, HeKeepsTheSizeOfWhatPassesARelu) {
  Random random(1);
  const Tensor weight = initial("he", {64, 16, 3, 3}, random);  // 144 inputs for each output
  double squares = 0;
  for (const real w : weight.values()) squares += static_cast<double>(w) * static_cast<double>(w);
  EXPECT_NEAR(squares / static_cast<double>(weight.size()), 2.0 / 144, 0.05 * 2.0 / 144);
}

}  // namespace
}  // namespace attend::nn
