// Weights that are given: they come out as they are, pairs that do not meet have none, and what is not given is computed.
#include <limits>

#include "tests/attention/cases.h"

namespace attend::test {
namespace {

constexpr int64_t kGivenBatch = 2, kGivenKeys = 6;

struct GivenInputs {
  Var queries, keys, values;
};

GivenInputs given_inputs(int64_t queries) {
  Random random(3);
  return {Var::leaf(random_tensor({kGivenBatch, queries, kWidth}, random)),
          Var::leaf(random_tensor({kGivenBatch, kGivenKeys, kWidth}, random)),
          Var::leaf(random_tensor({kGivenBatch, kGivenKeys, kWidth}, random))};
}

/// No shares: what is given need not sum to one.
Tensor some_weights(int64_t queries) {
  Random random(5);
  Tensor given({kGivenBatch, queries, kGivenKeys});
  for (real& w : given.values()) w = static_cast<real>(random.below(8)) / 4;
  return given;
}

/// Every score × window × align that takes all queries at once; one query for the others.
template <class Body>
void for_every_given(Body&& body) {
  for (const ScoreRow& score : scores()) {
    for (const WindowRow& window : windows()) {
      for (const AlignRow& align : aligns()) {
        for (const int64_t heads : {1, 2}) {
          const AttentionConfig config = small_config(score.name, window.name, align.name, heads);
          SCOPED_TRACE(config.score + " " + config.window + " " + config.align + ", heads " + std::to_string(heads));
          body(config, needs_previous(config) ? 1 : 3);
        }
      }
    }
  }
}

TEST(GivenWeights, ComeOutExactlyWherePairsMeet) {
  const std::vector<int32_t> lengths{6, 4};
  for_every_given([&](const AttentionConfig& config, int64_t queries) {
    const Attention attention = random_attention(config);
    const GivenInputs in = given_inputs(queries);
    const Tensor given = some_weights(queries);
    const AttentionMemory memory = attention.prepare(in.keys, in.values, lengths);
    // A window tells by the weights of an align that leaves none out which pairs meet.
    AttentionConfig open = config;
    open.align = "softmax";
    const Tensor meets = random_attention(open)(in.queries, memory, {.weights = true}).weights.value();
    const AttentionRead read = attention(in.queries, memory, {.given = given});
    for (int64_t b = 0; b < kGivenBatch; ++b) {
      for (int64_t h = 0; h < config.heads; ++h) {
        for (int64_t i = 0; i < queries * kGivenKeys; ++i) {
          const int64_t at = (b * config.heads + h) * queries * kGivenKeys + i;
          const real wanted = meets.data()[at] == 0 ? 0 : given.data()[b * queries * kGivenKeys + i];
          ASSERT_EQ(read.weights.value().data()[at], wanted) << "sentence " << b << ", head " << h << ", pair " << i;
          ASSERT_EQ(read.undropped.value().data()[at], wanted);
        }
      }
    }
    for (int64_t i = 4; i < kGivenKeys; ++i) {  // beyond the end of the second sentence
      EXPECT_EQ(read.weights.value().data()[config.heads * queries * kGivenKeys + i], 0);
    }
  });
}

TEST(GivenWeights, AreWhatTheValuesAreWeightedBy) {
  const Attention attention = random_attention(small_config("additive", "none", "softmax", 1));
  const GivenInputs in = given_inputs(3);
  const Tensor given = some_weights(3);
  const AttentionRead read = attention(in.queries, attention.prepare(in.keys, in.values), {.given = given});
  expect_near(read.context.value(), batched_matmul(given, in.values.value()).value());
}

TEST(GivenWeights, LeaveRowsToAttentionThatAreNotGiven) {
  for (const int64_t queries : {1, 3, 12}) {  // of which the fused kernels would take one, or many
    const Attention attention = random_attention(small_config("scaled_dot", "none", "softmax", 2));
    const GivenInputs in = given_inputs(queries);
    Tensor given = some_weights(queries);
    std::fill_n(given.data(), kGivenKeys, real{-1});
    const AttentionMemory memory = attention.prepare(in.keys, in.values);
    const AttentionRead own = attention(in.queries, memory, {.weights = true});
    const AttentionRead read = attention(in.queries, memory, {.given = given});
    for (int64_t j = 0; j < kGivenKeys; ++j) {
      EXPECT_EQ(read.weights.value().data()[j], own.weights.value().data()[j]) << "not given";
      const int64_t last = (kGivenBatch * 2 * queries - 1) * kGivenKeys + j;
      EXPECT_EQ(read.weights.value().data()[last], given.data()[(kGivenBatch * queries - 1) * kGivenKeys + j]);
    }
  }
}

TEST(GivenWeights, TeachTheValuesAndNothingElse) {
  const Attention attention = random_attention(small_config("general", "none", "softmax", 1));
  const GivenInputs in = given_inputs(3);
  Tape tape;
  const AttentionRead read = attention(in.queries, attention.prepare(in.keys, in.values), {.given = some_weights(3)});
  Random random(4);
  tape.backward(read.context, random_tensor(read.context.shape(), random));
  const auto is_zero = [](real x) { return x == 0; };
  EXPECT_TRUE(std::all_of(in.queries.gradient().begin(), in.queries.gradient().end(), is_zero));
  EXPECT_TRUE(std::all_of(in.keys.gradient().begin(), in.keys.gradient().end(), is_zero));
  EXPECT_FALSE(std::all_of(in.values.gradient().begin(), in.values.gradient().end(), is_zero));
}

TEST(GivenWeights, AreRefusedInAnotherShapeOrWithOtherNumbers) {
  const Attention attention = random_attention(small_config("additive", "none", "softmax", 2));
  const GivenInputs in = given_inputs(3);
  const AttentionMemory memory = attention.prepare(in.keys, in.values);
  const auto refused = [&](const Tensor& given, const std::string& says) {
    expect_refusal([&] { attention(in.queries, memory, {.given = given}); }, says);
  };
  for (const Shape& shape : {Shape{2, 3, 5}, Shape{2, 1, 6}, Shape{1, 3, 6}, Shape{2, 2, 3, 6}}) {
    refused(Tensor::zeros(shape), "expected given weights [2,3,6], got ");
  }
  for (const real wrong : {real{-0.5}, std::numeric_limits<real>::quiet_NaN(), std::numeric_limits<real>::infinity()}) {
    Tensor given = some_weights(3);
    given.data()[7] = wrong;
    refused(given, "expected given weights of at least 0, or a row of -1");
  }
  const Attention drawn = random_attention(small_config("additive", "none", "sample", 1));
  Random random(1);
  const AttentionMemory keys = drawn.prepare(in.keys, in.values);
  expect_refusal([&] { drawn(in.queries, keys, {.random = &random, .given = some_weights(3)}); },
                 "align sample learns from what it drew");
}

}  // namespace
}  // namespace attend::test
