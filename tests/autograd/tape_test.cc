// The tape: scope, accumulation, dead branches, freeing, gathered products, pooled memory, reproducibility.
#include "attend/autograd/tape.h"

#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"
#include "attend/nn/layers.h"
#include "attend/nn/recurrent.h"
#include "attend/train/optimiser.h"
#include "tests/support/array.h"
#include "tests/support/message.h"
#include "tests/support/text.h"

namespace attend {
namespace {

using test::has;
using test::normal;

std::vector<real> copied(const Tensor& t) { return {t.begin(), t.end()}; }

TEST(Tape, RecordsOnlyWithinItsScope) {
  const Var x = Var::leaf(normal({3}, 1));
  EXPECT_FALSE(tanh(x).tracked());
  {
    Tape tape;
    EXPECT_TRUE(tanh(x).tracked());
    EXPECT_FALSE(tanh(x.detach()).tracked()) << "constants are not followed";
    EXPECT_EQ(tape.size(), 1u);
    {
      const TapePause pause;
      EXPECT_FALSE(tanh(x).tracked());
    }
    {
      Tape inner;
      tanh(x);
      EXPECT_EQ(inner.size(), 1u);
    }
    EXPECT_EQ(tape.size(), 1u);
  }
  EXPECT_FALSE(tanh(x).tracked());
}

TEST(Tape, GradientsAccumulate) {
  const Var x = Var::leaf(Tensor::of({2}, {1, 2}));
  for (int i = 0; i < 2; ++i) {
    Tape tape;
    tape.backward(sum(multiply(x, x)));
  }
  EXPECT_EQ(copied(x.gradient()), (std::vector<real>{4, 8}));
  Var y = x;
  y.clear_gradient();
  EXPECT_FALSE(x.gradient().defined());
}

TEST(Tape, OneValueUsedManyTimes) {
  // d(x·x + x − x·c) where the same dy reaches several slots at once: none may write to another's gradient.
  const Var x = Var::leaf(Tensor::of({2}, {3, 5})), c = Tensor::of({2}, {10, 20});
  Tape tape;
  const Var y = add(x, x);
  const Var z = add(add(y, y), add(x, multiply(x, c)));
  tape.backward(sum(add(z, z)));
  EXPECT_EQ(copied(x.gradient()), (std::vector<real>{2 * (5 + 10), 2 * (5 + 20)}));
}

TEST(Tape, DeadBranchesAreSkipped) {
  const Var x = Var::leaf(normal({4}, 1));
  Tape tape;
  bool reached = false;
  const Var dead = record(normal({4}, 2), [&](Tensor) { reached = true; });
  tanh(dead);
  const Var loss = sum(x);
  tape.backward(loss);
  EXPECT_FALSE(reached);
  EXPECT_TRUE(x.gradient().defined());
}

TEST(Tape, ActivationsAreFreedAsItUnwinds) {
  const Var x = Var::leaf(normal({1 << 16}, 1));
  const size_t before = memory::usage().in_use, layer = (size_t{1} << 16) * sizeof(real);
  Tape tape;
  size_t at_bottom = 0;
  Var y = record(x.value().clone(), [&, slot = x.slot()](Tensor dy) {
    at_bottom = memory::usage().in_use - before;
    slot.add(std::move(dy));
  });
  for (int i = 0; i < 20; ++i) y = tanh(y);
  EXPECT_GE(memory::usage().in_use - before, 20 * layer);
  Var loss = sum(y);
  y = Var();
  tape.backward(loss);
  EXPECT_LE(at_bottom, 5 * layer) << "twenty layers of activations must be gone when the first op is reached";
}

TEST(Tape, WeightGradientsOfAllStepsAreOneProduct) {
  const int steps = 7;
  const Var w = Var::leaf(normal({5, 3}, 1)), b = Var::leaf(normal({5}, 2));
  Tensor x = normal({steps, 4, 3}, 3), seed = normal({steps, 4, 5}, 4);
  size_t gathered = 0;
  {
    Tape tape;
    const Var probe = Var::leaf(Tensor::zeros({4, 3}));
    const Var first = record(Tensor::zeros({4, 3}), [&](Tensor) { gathered = w.slot().node()->products.size(); });
    std::vector<Var> ys;
    for (int t = 0; t < steps; ++t) ys.push_back(linear(add(first, x[t]), w, b));
    tape.backward(stack(ys), seed);
  }
  EXPECT_EQ(gathered, static_cast<size_t>(steps)) << "kept apart until the tape has unwound";
  const std::vector<real> stepwise = copied(w.gradient()), bias = copied(b.gradient());
  Var w2 = w, b2 = b;
  w2.clear_gradient();
  b2.clear_gradient();
  Tape tape;
  tape.backward(linear(x, w, b), seed);
  for (size_t i = 0; i < stepwise.size(); ++i) EXPECT_NEAR(stepwise[i], w.gradient().data()[i], 1e-5);
  for (size_t i = 0; i < bias.size(); ++i) EXPECT_NEAR(bias[i], b.gradient().data()[i], 1e-5);
}

TEST(Tape, AfterABackwardPassThatThrewTheNextOneIsWhole) {
  const Var x = normal({5, 3}, 1), w = Var::leaf(normal({4, 3}, 2));
  const auto run = [&](bool throws) {
    Tape tape;
    const Var first = linear(x, w, {});
    const Var middle = record(first.value(), [slot = first.slot(), throws](Tensor dy) {
      require(!throws, "no gradient today");
      slot.add(std::move(dy));
    });
    tape.backward(sum(linear(x, w, {})) + sum(middle));  // the second product comes before the throw
  };
  const Var fresh = Var::leaf(w.value().clone());
  EXPECT_THROW(run(true), Error);
  run(false);
  {
    Tape tape;
    tape.backward(sum(linear(x, fresh, {})) + sum(linear(x, fresh, {})));
  }
  ASSERT_TRUE(w.gradient().defined());
  for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w.gradient().data()[i], fresh.gradient().data()[i], 1e-5);
}

TEST(Tape, RefusesWhatHasNoGradient) {
  Tape tape;
  EXPECT_THROW(tape.backward(Var()), Error);
  EXPECT_THROW(tape.backward(Var(Tensor::scalar(1))), Error);
  const Var x = Var::leaf(normal({2, 2}, 1));
  try {
    tape.backward(tanh(x));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("got shape [2, 2]"), std::string::npos) << error.what();
  }
  EXPECT_THROW(tape.backward(tanh(x), Tensor::zeros({3})), Error);
}

TEST(Tape, IsSpentAfterOnePass) {
  const Var x = Var::leaf(Tensor::of({2}, {1, 2}));
  Tape tape;
  const Var loss = sum(multiply(x, x));
  tape.backward(loss);
  const auto again = [&](const Var& what) { return test::message_of([&] { tape.backward(what); }); };
  EXPECT_TRUE(has(again(loss), "got one that is spent")) << again(loss);
  EXPECT_TRUE(has(again(loss), "open a new Tape")) << again(loss);
  EXPECT_TRUE(has(again(sum(x)), "spent")) << "what is recorded later may depend on what is freed";
  EXPECT_EQ(copied(x.gradient()), (std::vector<real>{2, 4})) << "nothing was added";
}

TEST(Tape, IsSpentAfterAPassThatThrew) {
  const Var x = Var::leaf(Tensor::of({1}, {1}));
  Tape tape;
  const Var loss = record(x.value().clone(), [](Tensor) { fail("no gradient today"); });
  EXPECT_EQ(test::message_of([&] { tape.backward(loss); }), "no gradient today");
  EXPECT_TRUE(has(test::message_of([&] { tape.backward(loss); }), "spent"));
}

TEST(Tape, RefusesALossOfAnotherTape) {
  const Var x = Var::leaf(Tensor::of({1}, {3}));
  Tape outer;
  const Var loss = sum(x);
  {
    Tape inner;
    EXPECT_TRUE(has(test::message_of([&] { inner.backward(loss); }), "of another tape"));
    EXPECT_FALSE(x.gradient().defined());
    inner.backward(sum(multiply(x, x)));
  }
  outer.backward(loss);
  EXPECT_EQ(copied(x.gradient()), (std::vector<real>{7}));
  Tape fresh;
  fresh.backward(x);
  EXPECT_EQ(copied(x.gradient()), (std::vector<real>{8})) << "a leaf needs no record";
}

TEST(Tape, APrintedVarSaysWhetherAGradientFlowsToIt) {
  const auto printed = [](const Var& var) {
    std::ostringstream out;
    out << var;
    return out.str();
  };
  const Var weight = Var::leaf(Tensor::of({2}, {1, 2}));
  EXPECT_EQ(printed(Var(Tensor::scalar(1))), "[] 1");
  EXPECT_EQ(printed(weight), "tracked [2] [1, 2]");
  EXPECT_EQ(printed(Var()), "undefined tensor");
  EXPECT_EQ(printed(sum(weight)), "[] 3") << "no tape is open";
  Tape tape;
  EXPECT_EQ(printed(sum(weight)), "tracked [] 3");
}

TEST(Tape, MemoryComesBackFromThePool) {
  const Var x = Var::leaf(normal({1000, 100}, 1));
  const auto step = [&] {
    Var leaf = x;
    leaf.clear_gradient();
    Tape tape;
    tape.backward(sum(tanh(multiply(x, x))));
  };
  step();
  step();
  const memory::Usage before = memory::usage();
  memory::reset_peak();
  for (int i = 0; i < 5; ++i) step();
  const memory::Usage after = memory::usage();
  EXPECT_EQ(after.in_use, before.in_use) << "nothing may leak from step to step";
  EXPECT_LE(after.cached, before.cached + before.in_use) << "steady state takes nothing new from the system";
  EXPECT_GE(after.peak, before.in_use + 2 * x.size() * sizeof(real));
}

/// A few steps of training of a network with everything that draws random numbers or runs on several threads.
std::vector<real> train(int threads) {
  const int before = kernels::threads();
  kernels::set_threads(threads);
  Random random(5);
  Random drops = random.named("dropout");
  nn::Embedding words(50, 96, random);
  nn::Recurrent lstm(
      {.cell = Cell::lstm, .input = 96, .hidden = 96, .layers = 2, .bidirectional = true, .dropout = real(0.2)},
      random);
  nn::LayerNorm norm(192);
  nn::Linear out(192, 50, random);
  std::vector<nn::NamedParam> all;
  const auto collect = [&](const std::string& name, Var& v) { all.push_back({name, v}); };
  nn::visit_part(collect, "words", words);
  nn::visit_part(collect, "lstm", lstm);
  nn::visit_part(collect, "norm", norm);
  nn::visit_part(collect, "out", out);
  const auto adam = train::make_optimiser("adam", {}, all);
  std::vector<real> losses;
  for (int step = 0; step < 4; ++step) {
    Ids ids({12, 32}, std::vector<int32_t>(12 * 32));
    for (int32_t& id : ids.values) id = static_cast<int32_t>(random.below(50));
    std::vector<int32_t> lengths(32, 12);
    for (size_t b = 0; b < 32; b += 3) lengths[b] = static_cast<int32_t>(1 + b % 12);
    Tape tape;
    const Var memory = lstm(words(ids), lengths, {}, &drops).y;
    const Var batch_major = transpose(memory, 0, 1);
    const Var context =
        scaled_dot_product_attention(batch_major, batch_major, batch_major,
                                     {.heads = 4, .key_lengths = lengths, .dropout = real(0.1), .random = &drops});
    const Var energies = additive_score(batch_major, context, Var(normal({192}, 9)));
    const Var mixed = add(context, batched_matmul(softmax(energies), batch_major));
    const Var loss = cross_entropy(out(norm(transpose(mixed, 0, 1))), ids, {.smoothing = real(0.1)});
    tape.backward(loss);
    losses.push_back(loss.item());
    const double scale = train::clip_scale(train::gradient_norm(adam->parameters()), 1.0);
    adam->step(1e-2, scale);
    adam->clear_gradients();
  }
  for (const nn::NamedParam& p : all) losses.insert(losses.end(), p.var.value().begin(), p.var.value().end());
  kernels::set_threads(before);
  return losses;
}

TEST(Reproducible, SameSeedSameBitsRunToRunAndForAnyNumberOfThreads) {
  const std::vector<real> one = train(1);
  EXPECT_LT(one[3], one[0]) << "it should learn something";
  EXPECT_EQ(one, train(1));
  EXPECT_EQ(one, train(2));
  EXPECT_EQ(one, train(3));
}

}  // namespace
}  // namespace attend
