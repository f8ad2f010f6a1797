// Observation: what sinks receive, and that observing changes nothing.
#include <optional>

#include "tests/attention/cases.h"

namespace attend::test {
namespace {

struct ObservedInputs {
  Tensor queries, keys, values;
};

ObservedInputs observed_inputs(int64_t queries) {
  Random random(3);
  return {random_tensor({3, queries, kWidth}, random), random_tensor({3, 7, kWidth}, random),
          random_tensor({3, 7, kWidth}, random)};
}

const std::vector<int32_t> kLengths{7, 2, 0};

TEST(Observing, ChangesNoBitAndTellsTheComposedWeights) {
  // Tiled, row by row, and composed (too few queries for tiles; a score that is not fused).
  for (const auto& [score, queries] :
       {std::pair{"scaled_dot", 9}, std::pair{"scaled_dot", 1}, std::pair{"scaled_dot", 3}, std::pair{"general", 9}}) {
    for (const WindowRow& window : windows()) {
      if (window.previous && queries > 1) continue;
      for (const int64_t heads : {1, 4}) {
        SCOPED_TRACE(std::string(score) + " " + std::string(window.name) + ", queries " + std::to_string(queries));
        const Attention attention = random_attention(small_config(score, window.name, "softmax", heads));
        const ObservedInputs in = observed_inputs(queries);
        const AttentionMemory memory = attention.prepare(in.keys, in.values, kLengths);
        const Tensor quiet = attention(in.queries, memory).context.value();
        Recorder recorder;
        {
          const Observing observing(recorder);
          expect_same_bits(attention(in.queries, memory).context.value(), quiet);
        }
        ASSERT_EQ(recorder.seen.size(), 1u);
        expect_near(recorder.seen[0].weights, attention(in.queries, memory, {.weights = true}).weights.value());
        EXPECT_EQ(recorder.seen[0].key_lengths, kLengths);
        ASSERT_EQ(recorder.seen.size(), 1u) << "told after the scope had ended";
      }
    }
  }
}

TEST(Observing, ChangesNoBitOfTrainingWithDropout) {
  for (const std::string score : {"scaled_dot", "general"}) {
    AttentionConfig config = small_config(score, "causal", "softmax", 2);
    config.dropout = 0.3;
    const Attention attention = random_attention(config);
    const ObservedInputs in = observed_inputs(9);
    Tensor contexts[2], gradients[2];
    for (const bool on : {false, true}) {
      Recorder recorder;
      std::optional<Observing> observing;
      if (on) observing.emplace(recorder);
      const Var queries = Var::leaf(in.queries);
      Random random(5);
      Tape tape;
      const Var context = attention(queries, attention.prepare(in.keys, in.values), {.random = &random}).context;
      contexts[on] = context.value();
      tape.backward(context, Tensor::full(context.shape(), 1));
      gradients[on] = queries.gradient();
    }
    expect_same_bits(contexts[1], contexts[0]);
    expect_same_bits(gradients[1], gradients[0]);
  }
}

TEST(Observing, OfACacheSeesAllSteps) {
  for (const std::string score : {"scaled_dot", "general"}) {
    AttentionConfig config = small_config(score, "causal", "softmax", 2);
    config.width = 2;
    const Attention attention = random_attention(config);
    const ObservedInputs in = observed_inputs(5);
    AttentionCache quiet, seen;
    Recorder recorder;
    for (int64_t t = 0; t < 5; ++t) {
      const Tensor x = slice(in.queries, 1, t, t + 1).value();
      const Tensor expected = attention(x, x, x, quiet).context.value();
      const Observing observing(recorder);
      expect_same_bits(attention(x, x, x, seen).context.value(), expected);
    }
    const Tensor whole =
        attention(in.queries, attention.prepare(in.queries, in.queries), {.weights = true}).weights.value();
    ASSERT_EQ(recorder.seen.size(), 5u);
    for (int64_t t = 0; t < 5; ++t) {
      const Recorder::Seen& one = recorder.seen[static_cast<size_t>(t)];
      EXPECT_EQ(one.step, t);
      ASSERT_EQ(one.weights.shape(), (Shape{3, 2, 1, t + 1}));
      for (int64_t r = 0; r < 6; ++r) {
        for (int64_t j = 0; j <= t; ++j) {
          ASSERT_NEAR(one.weights.data()[r * (t + 1) + j], whole.data()[(r * 5 + t) * 5 + j], kSame);
        }
      }
    }
  }
}

TEST(Observing, OfACacheTellsCentresAndLengths) {
  for (const std::string window : {"local_m", "local_p"}) {
    SCOPED_TRACE(window);
    const Attention attention = random_attention(small_config("dot", window, "softmax", 2));
    const Tensor x = observed_inputs(1).queries;
    AttentionCache cache;
    attention(x, x, x, cache);
    Recorder recorder;
    const Observing observing(recorder);
    const AttentionRead read = attention(x, x, x, cache, std::vector<uint8_t>{1, 0, 1});
    ASSERT_EQ(recorder.seen.size(), 1u);
    EXPECT_EQ(recorder.seen[0].key_lengths, (std::vector<int32_t>{2, 1, 2}));
    expect_same_bits(recorder.seen[0].weights, read.weights.value());
    expect_same_bits(recorder.seen[0].centres, read.centres);
    ASSERT_EQ(read.centres.shape(), (Shape{3, 2, 1}));
    if (window == "local_m") expect_same_bits(read.centres, Tensor::of({3, 2, 1}, {1, 1, 0, 0, 1, 1}));
    if (window == "local_p") {
      EXPECT_NE(read.centres.data()[0], read.centres.data()[1]);
    }
  }
}

TEST(Observing, OfTakenRowsHasTheirLengths) {
  const Attention attention = random_attention(small_config("scaled_dot", "none", "softmax", 2));
  const ObservedInputs in = observed_inputs(1);
  AttentionMemory memory = attention.prepare(in.keys, in.values, kLengths);
  memory.take(std::vector<int32_t>{1, 1, 0, 2});
  Recorder recorder;
  const Observing observing(recorder);
  attention(Tensor::zeros({4, 1, kWidth}), memory);
  EXPECT_EQ(recorder.seen.at(0).key_lengths, (std::vector<int32_t>{2, 2, 7, 0}));
  EXPECT_EQ(recorder.seen.at(0).weights.shape(), (Shape{4, 2, 1, 7}));
}

TEST(Observing, TellsWhoWhereAndHow) {
  const ObservedInputs in = observed_inputs(2);
  for (const AlignRow& align : aligns()) {
    for (const WindowRow& window : windows()) {
      if (window.previous) continue;  // takes one query at a time
      SCOPED_TRACE(std::string(align.name) + " " + std::string(window.name));
      Random random(1);
      const Attention attention(small_config("dot", window.name, align.name, 2), random,
                                {"decoder.self", Purpose::past, 3});
      Recorder recorder;
      const Observing observing(recorder);
      attention(in.queries, attention.prepare(in.keys, in.values, kLengths), {.position = 4});
      ASSERT_EQ(recorder.seen.size(), 1u);
      const Recorder::Seen& seen = recorder.seen[0];
      EXPECT_EQ(seen.site, "decoder.self");
      EXPECT_EQ(seen.purpose, Purpose::past);
      EXPECT_EQ(seen.layer, 3);
      EXPECT_EQ(seen.step, 4);
      EXPECT_EQ(seen.hard, align.hard);
      EXPECT_EQ(seen.centres.defined(), window.name.starts_with("local"));
      if (window.name == "local_m") {
        // Two heads, queries 4 and 5, sources of 7, 2 and 0 keys.
        expect_same_bits(seen.centres, Tensor::of({3, 2, 2}, {4, 5, 4, 5, 1, 1, 1, 1, 0, 0, 0, 0}));
      }
      EXPECT_TRUE(seen.sentence.empty());
      EXPECT_TRUE(seen.beam.empty());
    }
  }
}

TEST(Observing, ScopesNest) {
  const Attention attention = random_attention(small_config("dot", "none", "softmax", 1));
  const ObservedInputs in = observed_inputs(2);
  const AttentionMemory memory = attention.prepare(in.keys, in.values);
  Recorder outer, inner;
  EXPECT_FALSE(Observing::active());
  {
    const Observing one(outer);
    attention(in.queries, memory);
    {
      const Observing two(inner);
      attention(in.queries, memory);
    }
    EXPECT_TRUE(Observing::active());
    attention(in.queries, memory);
  }
  EXPECT_FALSE(Observing::active());
  attention(in.queries, memory);
  EXPECT_EQ(outer.seen.size(), 3u);
  EXPECT_EQ(inner.seen.size(), 1u);
}

TEST(Observing, RowsBelongToHypotheses) {
  const Attention attention = random_attention(small_config("dot", "none", "softmax", 1));
  const ObservedInputs in = observed_inputs(1);
  const AttentionMemory memory = attention.prepare(in.keys, in.values);
  const std::vector<int32_t> sentence{4, 4, 9}, beam{0, 1, 0}, other{1, 2, 3};
  Recorder recorder;
  const Observing observing(recorder);
  {
    const ObservedRows rows(sentence, beam);
    attention(in.queries, memory);
    {
      const ObservedRows others(other, beam);
      attention(in.queries, memory);
    }
    attention(in.queries, memory);
  }
  attention(in.queries, memory);
  ASSERT_EQ(recorder.seen.size(), 4u);
  EXPECT_EQ(recorder.seen[0].sentence, sentence);
  EXPECT_EQ(recorder.seen[0].beam, beam);
  EXPECT_EQ(recorder.seen[1].sentence, other);
  EXPECT_EQ(recorder.seen[2].sentence, sentence);
  EXPECT_TRUE(recorder.seen[3].sentence.empty());
}

}  // namespace
}  // namespace attend::test
