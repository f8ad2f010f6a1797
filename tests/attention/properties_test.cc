// What holds of scores and aligns whatever the numbers are.
#include <algorithm>

#include "tests/attention/cases.h"

namespace attend::test {
namespace {

constexpr int64_t kPropertyBatch = 2, kQueries = 3, kKeys = 6;

struct PropertyInputs {
  Tensor queries, keys, values;
};

PropertyInputs property_inputs(uint64_t seed = 3) {
  Random random(seed);
  return {random_tensor({kPropertyBatch, kQueries, kWidth}, random),
          random_tensor({kPropertyBatch, kKeys, kWidth}, random),
          random_tensor({kPropertyBatch, kKeys, kWidth}, random)};
}

AttentionRead read(const Attention& attention, const PropertyInputs& in) {
  return attention(in.queries, attention.prepare(in.keys, in.values), {.weights = true});
}

/// Row `order[j]` of axis 1 becomes row j.
Tensor reordered(const Tensor& x, std::span<const int64_t> order) {
  Tensor y(x.shape());
  const int64_t T = x.dim(1), W = x.dim(2);
  for (int64_t b = 0; b < x.dim(0); ++b) {
    for (int64_t j = 0; j < T; ++j) {
      std::copy_n(x.data() + (b * T + order[static_cast<size_t>(j)]) * W, W, y.data() + (b * T + j) * W);
    }
  }
  return y;
}

// Scores.

TEST(AttentionScores, PermutedKeysPermuteTheWeights) {
  const int64_t order[] = {4, 0, 5, 2, 1, 3};
  for (const ScoreRow& score : scores()) {
    if (score.name == "location" || score.name == "convolution") continue;  // they look at places, not at keys
    if (score.previous) continue;                                           // takes one query at a time
    for (const int64_t heads : {1, 2}) {
      SCOPED_TRACE(std::string(score.name));
      const Attention attention = random_attention(small_config(score.name, "none", "softmax", heads));
      PropertyInputs in = property_inputs();
      const AttentionRead before = read(attention, in);
      in.keys = reordered(in.keys, order);
      in.values = reordered(in.values, order);
      const AttentionRead after = read(attention, in);
      expect_near(after.context.value(), before.context.value());
      Tensor wanted(before.weights.shape());
      for (int64_t r = 0; r < kPropertyBatch * heads * kQueries; ++r) {
        for (int64_t j = 0; j < kKeys; ++j) {
          wanted.data()[r * kKeys + j] = before.weights.value().data()[r * kKeys + order[j]];
        }
      }
      expect_near(after.weights.value(), wanted);
    }
  }
}

TEST(AttentionScores, GeneralWithTheIdentityIsDot) {
  Attention general = random_attention(small_config("general", "none", "softmax", 1));
  const Attention dot = random_attention(small_config("dot", "none", "softmax", 1));
  Tensor identity = Tensor::zeros({kWidth, kWidth});
  for (int64_t i = 0; i < kWidth; ++i) identity.data()[i * kWidth + i] = 1;
  auto all = nn::parameters(general);
  set(all, "score.keys.weight", identity);
  expect_near(read(general, property_inputs()).weights.value(), read(dot, property_inputs()).weights.value());
}

TEST(AttentionScores, ScaledDotIsDotOfSmallerQueries) {
  for (const int64_t heads : {1, 4}) {
    const Attention scaled = random_attention(small_config("scaled_dot", "none", "softmax", heads));
    const Attention dot = random_attention(small_config("dot", "none", "softmax", heads));
    PropertyInputs in = property_inputs();
    const Tensor wanted = read(scaled, in).weights.value();
    for (real& x : in.queries.values()) x /= std::sqrt(static_cast<real>(kWidth / heads));
    expect_near(read(dot, in).weights.value(), wanted);
  }
}

TEST(AttentionScores, ConcatOfTwoMatricesIsAdditive) {
  AttentionConfig config = small_config("concat", "none", "softmax", 1);
  config.query = 6, config.key = 10, config.value = 4;
  Attention concat = random_attention(config);
  config.score = "additive";
  Attention additive = random_attention(config, 2);
  auto from = nn::parameters(concat), to = nn::parameters(additive);
  const Tensor both = parameter(from, "score.weight").value();
  Tensor w({3, 6}), u({3, 10});
  for (int64_t r = 0; r < 3; ++r) {
    std::copy_n(both.data() + r * 16, 6, w.data() + r * 6);
    std::copy_n(both.data() + r * 16 + 6, 10, u.data() + r * 10);
  }
  set(to, "score.query.weight", w);
  set(to, "score.keys.weight", u);
  set(to, "score.keys.bias", Tensor::zeros({3}));
  set(to, "score.vector", parameter(from, "score.vector").value());
  Random random(5);
  const PropertyInputs in{random_tensor({2, 3, 6}, random), random_tensor({2, 5, 10}, random),
                          random_tensor({2, 5, 4}, random)};
  expect_near(read(concat, in).weights.value(), read(additive, in).weights.value());
}

TEST(AttentionScores, CosineDoesNotSeeHowLongVectorsAre) {
  const Attention attention = random_attention(small_config("cosine", "none", "softmax", 2));
  PropertyInputs in = property_inputs();
  const Tensor wanted = read(attention, in).weights.value();
  for (real& x : in.keys.values()) x *= 7;
  for (real& x : in.queries.values()) x *= 3;
  expect_near(read(attention, in).weights.value(), wanted);
}

TEST(AttentionScores, LocationSeesNoKeyAndConvolutionSeesNothing) {
  for (const std::string score : {"location", "convolution"}) {
    SCOPED_TRACE(score);
    const Attention attention = random_attention(small_config(score, "none", "softmax", 2));
    const PropertyInputs one = property_inputs(3), two = property_inputs(4);
    const Tensor wanted = read(attention, one).weights.value();
    expect_same_bits(read(attention, {one.queries, two.keys, two.values}).weights.value(), wanted);
    if (score == "convolution") expect_same_bits(read(attention, two).weights.value(), wanted);
  }
}

TEST(AttentionScores, ConvolutionKnowsOnlyTheDistance) {
  const Attention attention = random_attention(small_config("convolution", "none", "softmax", 1));
  const PropertyInputs in = property_inputs();
  const AttentionMemory memory = attention.prepare(in.keys, in.values);
  const Tensor all = attention(in.queries, memory, {.weights = true}).weights.value();
  const Tensor query = Tensor::zeros({kPropertyBatch, 1, kWidth});
  for (int64_t i = 0; i < kQueries; ++i) {
    const Tensor one = attention(query, memory, {.position = i, .weights = true}).weights.value();
    for (int64_t j = 0; j < kKeys; ++j) EXPECT_EQ(one.data()[j], all.data()[i * kKeys + j]);
  }
  // Beyond the radius of 2 all places weigh the same.
  EXPECT_EQ(all.data()[3], all.data()[4]);
  EXPECT_NE(all.data()[1], all.data()[2]);
}

// Windows.

TEST(AttentionWindows, WideLocalMonotonicIsNone) {
  for (const int64_t width : {kKeys, 3 * kKeys}) {
    AttentionConfig config = small_config("general", "local_m", "softmax", 2);
    config.width = width;
    const Attention local = random_attention(config);
    config.window = "none";
    const Attention whole = random_attention(config);
    expect_same_bits(read(local, property_inputs()).context.value(), read(whole, property_inputs()).context.value());
  }
}

TEST(AttentionWindows, PredictedCentresAreWithinTheSource) {
  const Attention attention = random_attention(small_config("dot", "local_p", "softmax", 2));
  Recorder recorder;
  const Observing observing(recorder);
  const PropertyInputs in = property_inputs();
  const std::vector<int32_t> lengths{6, 2};
  attention(in.queries, attention.prepare(in.keys, in.values, lengths));
  const Tensor& centres = recorder.seen.at(0).centres;
  ASSERT_EQ(centres.shape(), (Shape{kPropertyBatch, 2, kQueries}));
  for (int64_t i = 0; i < static_cast<int64_t>(centres.size()); ++i) {
    EXPECT_GT(centres.data()[i], 0);
    EXPECT_LT(centres.data()[i], lengths[static_cast<size_t>(i / (2 * kQueries))]);
  }
  EXPECT_NE(centres.data()[0], centres.data()[kQueries]) << "each head has a centre of its own";
}

// Aligns, on energies alone.

Aligned align(const std::string& name, const Var& energies, const Tensor& mask = {}, Random* random = nullptr,
              const AlignOptions& options = {}, int64_t update = 0) {
  return (*align_named(name).make(options))(energies, mask, {.random = random, .update = update});
}

/// Σ (observed − expected)²/expected of weights [N,K] that are one-hot.
double chi_square(const Tensor& weights, std::span<const double> p) {
  const int64_t N = weights.dim(0), K = weights.dim(1);
  double chi = 0;
  for (int64_t j = 0; j < K; ++j) {
    double seen = 0;
    const double expected = p[static_cast<size_t>(j)] * static_cast<double>(N);
    for (int64_t n = 0; n < N; ++n) seen += weights.data()[n * K + j];
    if (expected == 0) {
      EXPECT_EQ(seen, 0) << "what is masked is never drawn";
    } else {
      chi += (seen - expected) * (seen - expected) / expected;
    }
  }
  return chi;
}

TEST(AttentionAligns, DrawsFollowTheSoftmax) {
  constexpr int64_t N = 20000;
  const double e[] = {0.5, -1, 1.5, 0, -0.3};
  Tensor energies({N, 5});
  for (int64_t i = 0; i < N * 5; ++i) energies.data()[i] = static_cast<real>(e[i % 5]);
  const Tensor masks[] = {Tensor(), Tensor::of({1, 5}, {1, 1, 0, 1, 1})};
  for (const Tensor& mask : masks) {
    double p[5], sum = 0;
    for (int j = 0; j < 5; ++j) sum += p[j] = mask.defined() && mask.data()[j] == 0 ? 0 : std::exp(e[j]);
    for (double& x : p) x /= sum;
    // With 4 degrees of freedom, 23.5 is passed once in ten thousand.
    Random random(41);
    EXPECT_LT(chi_square(align("sample", energies, mask, &random).weights.value(), p), 23.5);
    const AlignOptions hard{.straight_through = true};
    EXPECT_LT(chi_square(align("gumbel", energies, mask, &random, hard).weights.value(), p), 23.5);
    const double even[] = {0.2, 0.2, 0.2, 0.2, 0.2};
    if (!mask.defined()) {
      EXPECT_GT(chi_square(align("sample", energies, mask, &random).weights.value(), even), 100);
    }
  }
}

TEST(AttentionAligns, SampleTellsTheProbabilityOfItsChoice) {
  Random random(6);
  const Tensor energies = random_tensor({50, 4}, random);
  const Aligned drawn = align("sample", energies, {}, &random);
  const Tensor p = softmax(energies).value();
  for (int64_t r = 0; r < 50; ++r) {
    double chosen = 0, entropy = 0;
    for (int64_t j = 0; j < 4; ++j) {
      const double pj = p.data()[r * 4 + j];
      chosen += pj * drawn.weights.value().data()[r * 4 + j];
      entropy -= pj * std::log(pj);
    }
    EXPECT_NEAR(drawn.log_probability.value().data()[r], std::log(chosen), 1e-5);
    EXPECT_NEAR(drawn.entropy.value().data()[r], entropy, 1e-5);
  }
}

TEST(AttentionAligns, WhatSampleDrewTeachesTheValuesAndItsProbabilityTheEnergies) {
  for (const bool probability : {false, true}) {
    Attention attention = random_attention(small_config("general", "none", "sample", 2));
    const PropertyInputs in = property_inputs();
    const Var queries = Var::leaf(in.queries), keys = Var::leaf(in.keys), values = Var::leaf(in.values);
    Random random(8);
    Tape tape;
    const AttentionRead drawn = attention(queries, attention.prepare(keys, values), {.random = &random});
    const Var& y = probability ? drawn.log_probability : drawn.context;
    tape.backward(y, random_tensor(y.shape(), random));
    const auto moved = [](const Var& x) {
      double most = 0;
      if (x.gradient().defined()) {
        for (const real g : x.gradient().values()) most = std::max(most, std::abs(static_cast<double>(g)));
      }
      return most > 0;
    };
    EXPECT_EQ(moved(queries), probability);
    EXPECT_EQ(moved(keys), probability);
    EXPECT_EQ(moved(values), !probability);
    for (const nn::NamedParam& p : nn::parameters(attention)) EXPECT_EQ(moved(p.var), probability) << p.name;
  }
}

TEST(AttentionAligns, ColdGumbelIsTheArgmaxOfNoisyEnergies) {
  Random random(9);
  const Tensor energies = random_tensor({40, 7}, random);
  // softmax of the noise alone: its logarithm is the noise, but for a constant per row.
  Random one(10), two(10), three(10);
  const Tensor noise = log(align("gumbel", Tensor::zeros({40, 7}), {}, &one).weights).value();
  const Tensor wanted = align("argmax", add(energies, noise)).weights.value();
  expect_near(align("gumbel", energies, {}, &two, {.temperature = 1e-5, .coldest = 1e-5}).weights.value(), wanted,
              1e-3);
  expect_same_bits(align("gumbel", energies, {}, &three, {.straight_through = true}).weights.value(), wanted);
}

TEST(AttentionAligns, StraightThroughIsOneHotWithTheRelaxedGradient) {
  Random random(11);
  const Tensor start = random_tensor({30, 5}, random), cotangent = random_tensor({30, 5}, random);
  const Tensor mask = Tensor::of({1, 5}, {1, 1, 1, 0, 1});
  Tensor gradients[2];
  for (const bool straight : {false, true}) {
    const Var energies = Var::leaf(start);
    Random noise(12);
    Tape tape;
    const Var weights =
        align("gumbel", energies, mask, &noise, {.temperature = 0.5, .straight_through = straight}).weights;
    int64_t ones = 0, others = 0;
    for (const real w : weights.value().values()) ones += w == 1, others += w != 0 && w != 1;
    EXPECT_EQ(ones, straight ? 30 : 0);
    EXPECT_EQ(others == 0, straight);
    tape.backward(weights, cotangent);
    gradients[straight] = energies.gradient();
  }
  expect_near(gradients[1], gradients[0]);
}

TEST(AttentionAligns, TemperatureFallsToTheColdest) {
  const AlignOptions options{.temperature = 2, .coldest = 0.5, .cooling = 0.01};
  EXPECT_DOUBLE_EQ(temperature_at(options, 0), 2);
  EXPECT_DOUBLE_EQ(temperature_at(options, 100), 2 * std::exp(-1.0));
  EXPECT_DOUBLE_EQ(temperature_at(options, 1000), 0.5);
  EXPECT_DOUBLE_EQ(temperature_at({.temperature = 0.05}, 7), 0.05) << "never warmer than at the start";
  const Tensor energies = Tensor::of({1, 2}, {1, 0});
  const double w = align("gumbel", energies, {}, nullptr, options, 1000).weights.value().data()[0];
  EXPECT_NEAR(w, 1 / (1 + std::exp(-2.0)), 1e-6);
}

TEST(AttentionAligns, ArgmaxTakesTheFirstOfEqualsThatCount) {
  const Tensor energies = Tensor::of({3, 4}, {1, 3, 3, 2, 9, 1, 2, 0, 1, 1, 1, 1});
  const Tensor mask = Tensor::of({3, 4}, {1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0});
  for (const std::string name : {"argmax", "sample"}) {
    expect_same_bits(align(name, energies, mask).weights.value(),
                     Tensor::of({3, 4}, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
  }
}

TEST(AttentionAligns, ArgmaxRefusesToBeTrained) {
  const Var energies = Var::leaf(Tensor::of({1, 2}, {1, 2}));
  {
    const Tape tape;
    expect_refusal([&] { align("argmax", energies); }, "\"gumbel\" or \"softmax\"");
    EXPECT_NO_THROW(align("argmax", energies.detach()));
  }
  EXPECT_NO_THROW(align("argmax", energies));
}

TEST(AttentionAligns, SparsemaxIsSparseAndClosedForTwoKeys) {
  Random random(13);
  const Tensor many = align("sparsemax", random_tensor({50, 12}, random)).weights.value();
  int64_t zeros = 0;
  for (int64_t r = 0; r < 50; ++r) {
    double sum = 0;
    for (int64_t j = 0; j < 12; ++j) sum += many.data()[r * 12 + j], zeros += many.data()[r * 12 + j] == 0;
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_GT(zeros, 50 * 6);
  const Tensor pairs = random_tensor({50, 2}, random);
  const Tensor got = align("sparsemax", pairs).weights.value();
  for (int64_t r = 0; r < 50; ++r) {
    const double gap = static_cast<double>(pairs.data()[2 * r]) - static_cast<double>(pairs.data()[2 * r + 1]);
    const double p = std::clamp((1 + gap) / 2, 0.0, 1.0);
    EXPECT_NEAR(got.data()[2 * r], p, 1e-6);
    EXPECT_NEAR(got.data()[2 * r + 1], 1 - p, 1e-6);
  }
}

TEST(AttentionAligns, SetAlignKeepsTheParameters) {
  Attention attention = random_attention(small_config("dot", "none", "softmax", 2));
  const PropertyInputs in = property_inputs();
  const AttentionMemory memory = attention.prepare(in.keys, in.values);  // for the fused kernels
  const Tensor soft = attention(in.queries, memory, {.weights = true}).weights.value();
  EXPECT_FALSE(attention.hard());
  attention.set_align("argmax");
  EXPECT_TRUE(attention.hard());
  expect_same_bits(attention(in.queries, memory).weights.value(), align("argmax", soft).weights.value());
}

}  // namespace
}  // namespace attend::test
