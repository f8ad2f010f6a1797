// The same attention by several paths: tiled, row by row, composed, and step by step with a cache.
#include "tests/attention/cases.h"

namespace attend::test {
namespace {

struct PathInputs {
  Var queries, keys, values;
};

PathInputs leaves(int64_t batch, int64_t queries, int64_t keys) {
  Random random(3);
  return {Var::leaf(random_tensor({batch, queries, kWidth}, random)),
          Var::leaf(random_tensor({batch, keys, kWidth}, random)),
          Var::leaf(random_tensor({batch, keys, kWidth}, random))};
}

/// Calls `body` with every fused score × window by place × width × heads.
template <class Body>
void for_every_fused(Body&& body) {
  for (const ScoreRow& score : scores()) {
    for (const WindowRow& window : windows()) {
      if (!score.fused || !window.by_place) continue;
      for (const int64_t width : {0, 2}) {
        for (const int64_t heads : {1, 2, 4}) {
          AttentionConfig config = small_config(score.name, window.name, "softmax", heads);
          config.width = width;
          SCOPED_TRACE(config.score + " " + config.window + " " + std::to_string(width) + ", heads " +
                       std::to_string(heads));
          body(config);
        }
      }
    }
  }
}

TEST(AttentionPaths, TiledEqualsComposed) {
  const std::vector<int32_t> none, some{7, 3, 0};
  for_every_fused([&](const AttentionConfig& config) {
    const Attention attention = random_attention(config);
    for (const int64_t queries : {9, 12}) {
      for (const auto& lengths : {none, some}) {
        Tensor context[2], gradients[2][3];
        for (const bool composed : {false, true}) {
          const PathInputs in = leaves(3, queries, 7 + (queries == 9 ? 4 : 0));
          Tape tape;
          const AttentionRead read =
              attention(in.queries, attention.prepare(in.keys, in.values, lengths), {.weights = composed});
          EXPECT_EQ(read.weights.defined(), composed) << "the other path was taken";
          context[composed] = read.context.value();
          Random random(4);
          tape.backward(read.context, random_tensor(read.context.shape(), random));
          gradients[composed][0] = in.queries.gradient();
          gradients[composed][1] = in.keys.gradient();
          gradients[composed][2] = in.values.gradient();
        }
        expect_near(context[0], context[1]);
        for (int i = 0; i < 3; ++i) expect_near(gradients[0][i], gradients[1][i]);
      }
    }
  });
}

TEST(AttentionPaths, RowByRowEqualsComposed) {
  for_every_fused([&](const AttentionConfig& config) {
    const Attention attention = random_attention(config);
    const PathInputs in = leaves(3, 1, 7);
    const AttentionMemory memory = attention.prepare(in.keys, in.values, std::vector<int32_t>{7, 3, 0});
    for (const int64_t position : {0, 4}) {
      const AttentionRead plain = attention(in.queries, memory, {.position = position});
      const AttentionRead composed = attention(in.queries, memory, {.position = position, .weights = true});
      EXPECT_TRUE(composed.weights.defined());
      EXPECT_EQ(plain.weights.defined(), config.window != "none");
      expect_near(plain.context.value(), composed.context.value());
    }
  });
}

// Memory whose rows are taken.

Tensor rows_of(const Tensor& x, std::span<const int32_t> rows) {
  Tensor y(x.shape().with(0, static_cast<int64_t>(rows.size())));
  const size_t width = x.size() / static_cast<size_t>(x.dim(0));
  for (size_t n = 0; n < rows.size(); ++n) {
    std::copy_n(x.data() + static_cast<size_t>(rows[n]) * width, width, y.data() + n * width);
  }
  return y;
}

TEST(AttentionPaths, TakenMemoryReadsTheSourcesOfItsRows) {
  const std::vector<int32_t> lengths{6, 3, 5}, first{2, 0, 0, 2}, second{3, 1, 1}, both{2, 0, 0};
  for (const ScoreRow& score : scores()) {
    for (const int64_t heads : {1, 4}) {
      for (const int64_t queries : {1, 9}) {
        if (score.previous && queries > 1) continue;
        SCOPED_TRACE(std::string(score.name) + ", heads " + std::to_string(heads));
        const Attention attention = random_attention(small_config(score.name, "none", "softmax", heads));
        const PathInputs in = leaves(3, queries, 6);
        AttentionMemory memory = attention.prepare(in.keys, in.values, lengths);
        Random random(5);
        const Tensor four = random_tensor({4, queries, kWidth}, random);
        const auto check = [&](const Tensor& q, std::span<const int32_t> rows) {
          std::vector<int32_t> taken;
          for (const int32_t row : rows) taken.push_back(lengths[static_cast<size_t>(row)]);
          EXPECT_EQ(memory.lengths(), taken);
          const AttentionMemory expected =
              attention.prepare(rows_of(in.keys.value(), rows), rows_of(in.values.value(), rows), taken);
          expect_near(attention(q, memory).context.value(), attention(q, expected).context.value());
          expect_near(attention(q, memory, {.weights = true}).weights.value(),
                      attention(q, expected, {.weights = true}).weights.value());
        };
        memory.take(first);
        ASSERT_EQ(memory.rows(), 4);
        check(four, first);
        memory.take(second);
        check(four.rows(0, 3), both);
        expect_refusal([&] { memory.take(std::vector<int32_t>{3}); }, "expected rows in [0, 3), got 3");
      }
    }
  }
}

TEST(AttentionPaths, NobodyIsLeftToReadAMemory) {
  const std::vector<int32_t> lengths{6, 3, 5}, nobody, some{2, 0};
  for (const ScoreRow& score : scores()) {
    const Attention attention = random_attention(small_config(score.name, "none", "softmax", 2));
    const PathInputs in = leaves(3, 1, 6);
    for (const auto& before : {nobody, some}) {
      AttentionMemory memory = attention.prepare(in.keys, in.values, lengths);
      if (!before.empty()) memory.take(before);
      memory.take(nobody);
      EXPECT_EQ(memory.rows(), 0);
      EXPECT_TRUE(memory.lengths().empty());
      for (const int64_t queries : {1, 9}) {
        if (score.previous && queries > 1) continue;
        SCOPED_TRACE(std::string(score.name) + ", queries " + std::to_string(queries));
        EXPECT_EQ(attention(Tensor({0, queries, kWidth}), memory).context.shape(), (Shape{0, queries, kWidth}));
      }
    }
  }
}

TEST(AttentionPaths, GradientsReachTheSourcesOfTakenRows) {
  const std::vector<int32_t> rows{1, 1, 0};
  for (const std::string score : {"scaled_dot", "general"}) {
    SCOPED_TRACE(score);
    const Attention attention = random_attention(small_config(score, "none", "softmax", 2));
    PathInputs taken = leaves(2, 3, 5), copied = taken;
    Random random(6);
    const Tensor queries = random_tensor({3, 3, kWidth}, random), dy = random_tensor({3, 3, kWidth}, random);
    copied.keys = Var::leaf(rows_of(taken.keys.value(), rows));
    copied.values = Var::leaf(rows_of(taken.values.value(), rows));
    {
      Tape tape;
      AttentionMemory memory = attention.prepare(taken.keys, taken.values);
      memory.take(rows);
      {
        const TapePause pause;  // a look at it meanwhile must not cut the keys off
        attention(queries, memory);
      }
      tape.backward(attention(queries, memory).context, dy);
    }
    {
      Tape tape;
      tape.backward(attention(queries, attention.prepare(copied.keys, copied.values)).context, dy);
    }
    for (const auto& [whole, parts] : {std::pair{taken.keys, copied.keys}, std::pair{taken.values, copied.values}}) {
      ASSERT_TRUE(whole.gradient().defined());
      Tensor sum = Tensor::zeros(whole.shape());
      for (size_t n = 0; n < rows.size(); ++n) {
        for (size_t i = 0; i < 5 * kWidth; ++i) {
          sum.data()[static_cast<size_t>(rows[n]) * 5 * kWidth + i] += parts.gradient().data()[n * 5 * kWidth + i];
        }
      }
      expect_near(whole.gradient(), sum);
    }
  }
}

TEST(AttentionPaths, GradientsReachParametersAlone) {
  Attention attention = random_attention(small_config("general", "none", "softmax", 2));
  const PathInputs in = leaves(2, 1, 5);
  Tape tape;
  AttentionMemory memory = attention.prepare(in.keys.detach(), in.values.detach());
  memory.take(std::vector<int32_t>{1, 0});
  {
    const TapePause pause;
    attention(in.queries.detach(), memory);
  }
  const Var context = attention(in.queries.detach(), memory).context;
  ASSERT_TRUE(context.tracked());
  tape.backward(context, Tensor::full(context.shape(), 1));
  for (const nn::NamedParam& p : nn::parameters(attention)) EXPECT_TRUE(p.var.gradient().defined()) << p.name;
}

TEST(AttentionPaths, ExtendedMemoryEqualsOnePreparedWhole) {
  for (const ScoreRow& score : scores()) {
    for (const int64_t queries : {1, 3, 9}) {
      if (score.previous && queries > 1) continue;
      SCOPED_TRACE(std::string(score.name) + ", queries " + std::to_string(queries));
      const Attention attention = random_attention(small_config(score.name, "none", "softmax", 2));
      Tensor contexts[2], gradients[2][2];
      for (const bool whole : {false, true}) {
        const PathInputs in = leaves(2, queries, 5);
        Tape tape;
        AttentionMemory memory;
        for (const auto& [begin, end] : {std::pair{0, 2}, std::pair{2, 3}, std::pair{3, 5}}) {
          if (whole) break;
          attention.extend(memory, slice(in.keys, 1, begin, end), slice(in.values, 1, begin, end));
          const TapePause pause;
          attention(in.queries, memory);  // what is kept of a shorter past must not serve the longer one
        }
        if (whole) memory = attention.prepare(in.keys, in.values);
        ASSERT_EQ(memory.keys(), 5);
        const Var context = attention(in.queries, memory).context;
        contexts[whole] = context.value();
        Random random(6);
        tape.backward(context, random_tensor(context.shape(), random));
        gradients[whole][0] = in.values.gradient();
        gradients[whole][1] = in.keys.gradient().defined() ? in.keys.gradient() : Tensor::zeros(in.keys.shape());
      }
      expect_near(contexts[0], contexts[1]);
      for (int i = 0; i < 2; ++i) expect_near(gradients[0][i], gradients[1][i]);
    }
  }
}

TEST(AttentionPaths, MemoryIsExtendedUnderAnotherAlign) {
  for (const std::string first : {"argmax", "softmax"}) {  // composed, then fused; fused, then composed
    const std::string second = first == "softmax" ? "argmax" : "softmax";
    Attention attention = random_attention(small_config("scaled_dot", "none", first, 2));
    const PathInputs in = leaves(2, 3, 5);
    AttentionMemory memory = attention.prepare(slice(in.keys, 1, 0, 2), slice(in.values, 1, 0, 2));
    attention.set_align(second);
    attention.extend(memory, slice(in.keys, 1, 2, 5), slice(in.values, 1, 2, 5));
    for (const bool weights : {false, true}) {
      SCOPED_TRACE(second + (weights ? ", weights" : ""));
      const AttentionStep step{.weights = weights};
      expect_near(attention(in.queries, memory, step).context.value(),
                  attention(in.queries, attention.prepare(in.keys, in.values), step).context.value());
    }
  }
}

// Step by step with a cache.

/// The last query of the whole of each row's history [N,T,W], under a causal window of that width.
Tensor last_of_whole(AttentionConfig config, const Tensor& history) {
  config.window = "causal";
  const Attention attention = random_attention(config);
  const Tensor all = attention(history, attention.prepare(history, history)).context.value();
  const int64_t N = history.dim(0), T = history.dim(1);
  Tensor last({N, 1, kWidth});
  for (int64_t n = 0; n < N; ++n) std::copy_n(all.data() + (n * T + T - 1) * kWidth, kWidth, last.data() + n * kWidth);
  return last;
}

/// [N,T,W] and [N,1,W] → [N,T+1,W].
Tensor appended(const Tensor& history, const Tensor& next) {
  if (!history.defined()) return next;
  const Var parts[] = {history, next};
  return concat(parts, 1).value();
}

void check_cache(const AttentionConfig& config) {
  const Attention attention = random_attention(config);
  Random random(7);
  AttentionCache cache;
  Tensor history;
  const auto step = [&](int64_t rows) {
    const Tensor x = random_tensor({rows, 1, kWidth}, random);
    history = appended(history, x);
    const Tensor got = attention(x, x, x, cache).context.value();
    expect_near(got, last_of_whole(config, history));
    EXPECT_EQ(cache.steps(), history.dim(1));
  };
  const auto take = [&](const std::vector<int32_t>& rows) {
    cache.take(rows);
    history = rows_of(history, rows);
  };
  for (int t = 0; t < 3; ++t) step(3);
  take({2, 0, 0, 2, 2});  // repeated and left out
  for (int t = 0; t < 3; ++t) step(5);
  take({4, 1});
  for (int t = 0; t < 5; ++t) step(2);
}

TEST(AttentionPaths, CacheEqualsTheCausalWhole) {
  for (const ScoreRow& score : scores()) {
    if (score.previous) continue;
    for (const std::string window : {"causal", "none", "sliding"}) {
      for (const int64_t width : {0, 2}) {
        if (window == "none" && width > 0) continue;
        if (window == "sliding" && width == 0) continue;  // causal with 0 is without limit, sliding with 0 is not
        for (const int64_t heads : {1, 4}) {
          AttentionConfig config = small_config(score.name, window, "softmax", heads);
          config.width = width;
          SCOPED_TRACE(config.score + " " + window + " " + std::to_string(width) + ", heads " + std::to_string(heads));
          check_cache(config);
          config.query_projection = config.key_projection = config.value_projection = "linear";
          config.output_projection = true;
          check_cache(config);
        }
      }
    }
  }
}

TEST(AttentionPaths, HypothesesInACacheMayDifferInLength) {
  const std::vector<std::vector<uint8_t>> active{{1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}, {1, 0, 0}};
  for (const ScoreRow& score : scores()) {
    if (score.previous) continue;
    for (const int64_t width : {0, 2}) {
      for (const int64_t heads : {1, 4}) {
        SCOPED_TRACE(std::string(score.name) + ", width " + std::to_string(width));
        AttentionConfig config = small_config(score.name, "causal", "softmax", heads);
        config.width = width;
        const Attention attention = random_attention(config);
        Random random(7);
        AttentionCache cache;
        std::vector<Tensor> history(3);
        for (const std::vector<uint8_t>& step : active) {
          const Tensor x = random_tensor({3, 1, kWidth}, random);
          const Tensor got = attention(x, x, x, cache, step).context.value();
          for (size_t n = 0; n < 3; ++n) {
            if (!step[n]) continue;  // it appended nothing, and what it read does not matter
            history[n] = appended(history[n], x.rows(static_cast<int64_t>(n), static_cast<int64_t>(n) + 1));
            expect_near(got.rows(static_cast<int64_t>(n), static_cast<int64_t>(n) + 1),
                        last_of_whole(config, history[n]));
          }
        }
      }
    }
  }
}

TEST(AttentionPaths, CopiesOfACacheGrowApart) {
  for (const std::string score : {"scaled_dot", "general"}) {
    const AttentionConfig config = small_config(score, "causal", "softmax", 2);
    const Attention attention = random_attention(config);
    Random random(7);
    AttentionCache caches[2];
    Tensor history[2];
    const auto step = [&](int which) {
      const Tensor x = random_tensor({3, 1, kWidth}, random);
      history[which] = appended(history[which], x);
      expect_near(attention(x, x, x, caches[which]).context.value(), last_of_whole(config, history[which]));
    };
    step(0);
    caches[1] = caches[0], history[1] = history[0];
    for (int t = 0; t < 3; ++t) step(0), step(1);
  }
}

TEST(AttentionPaths, CacheRecordsNothing) {
  const Attention attention = random_attention(small_config("general", "causal", "softmax", 2));
  const Var x = leaves(2, 1, 1).queries;
  AttentionCache cache;
  const Tape tape;
  EXPECT_FALSE(attention(x, x, x, cache).context.tracked());
  EXPECT_EQ(tape.size(), 0u);
}

TEST(AttentionPaths, CacheRefusesOtherRowsAndWidths) {
  for (const std::string score : {"scaled_dot", "general"}) {
    const Attention attention = random_attention(small_config(score, "causal", "softmax", 2));
    AttentionCache cache;
    const auto call = [&](const Shape& q, const Shape& k, const Shape& v) {
      return [&, q, k, v] { attention(Tensor::zeros(q), Tensor::zeros(k), Tensor::zeros(v), cache); };
    };
    const Shape good{2, 1, 8};
    expect_refusal(call(good, {3, 1, 8}, good), "got [2, 1, 8], [3, 1, 8]");
    expect_refusal(call(good, good, {2, 1, 4}), "and [2, 1, 4]");
    expect_refusal(call(good, {2, 2, 8}, good), "one query, key and value per row");
    EXPECT_EQ(cache.steps(), 0);
    call(good, good, good)();
    expect_refusal(call({3, 1, 8}, {3, 1, 8}, {3, 1, 8}), "expected 2 rows, got 3");
    expect_refusal([&] { cache.take(std::vector<int32_t>{0, 2}); }, "expected rows in [0, 2), got 2");
  }
}

}  // namespace
}  // namespace attend::test
