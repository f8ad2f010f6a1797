// What is refused, and what the message says to do instead.
#include "tests/attention/cases.h"

namespace attend::test {
namespace {

void expect_config_refused(const AttentionConfig& config, const std::string& says) {
  Random random(1);
  expect_refusal([&] { Attention(config, random); }, says);
}

AttentionConfig good() { return small_config("scaled_dot", "none", "softmax", 2); }

TEST(AttentionRefusals, UnknownNamesComeWithTheNearest) {
  struct Mistake {
    std::string AttentionConfig::*field;
    std::string name, menu, nearest;
  };
  const Mistake mistakes[] = {
      {&AttentionConfig::score, "aditive", "score", "additive"},
      {&AttentionConfig::score, "Scaled_Dot", "score", "scaled_dot"},
      {&AttentionConfig::window, "casual", "window", "causal"},
      {&AttentionConfig::align, "sparse_max", "align", "sparsemax"},
      {&AttentionConfig::query_projection, "liner", "projection", "linear"},
      {&AttentionConfig::key_projection, "mpl", "projection", "mlp"},
      {&AttentionConfig::value_projection, "non", "projection", "none"},
  };
  for (const Mistake& m : mistakes) {
    AttentionConfig config = good();
    config.*m.field = m.name;
    expect_config_refused(config, m.menu + ": ");
    expect_config_refused(config, "got \"" + m.name + "\"; the nearest is \"" + m.nearest + "\"");
  }
  Attention attention = random_attention(good());
  expect_refusal([&] { attention.set_align("softmaks"); }, "the nearest is \"softmax\"");
  EXPECT_EQ(attention.config().align, "softmax");
}

TEST(AttentionRefusals, HeadsMustDivideEveryWidth) {
  AttentionConfig config = good();
  config.heads = 3;
  expect_config_refused(config, "3 heads must divide the width of the query, got 8");
  config.query = 6, config.score = "general";
  expect_config_refused(config, "3 heads must divide the width of the key, got 8");
  config.key = 6;
  expect_config_refused(config, "3 heads must divide the width of the value, got 8");
  config.value = 3;
  EXPECT_NO_THROW(random_attention(config));
  config.heads = 0;
  expect_config_refused(config, "expected at least one head, got 0");
}

TEST(AttentionRefusals, ScoresOfDifferentWidthsNameOneThatTakesThem) {
  for (const ScoreRow& score : scores()) {
    SCOPED_TRACE(std::string(score.name));
    AttentionConfig config = small_config(score.name, "none", "softmax", 2);
    config.key = config.value = 6;
    if (score.equal_widths) {
      expect_config_refused(config, "got 4 and 3; project them to one width, or use \"general\"");
      config.key_projection = "linear";
    }
    EXPECT_NO_THROW(random_attention(config));
  }
}

TEST(AttentionRefusals, LocationWantsToKnowTheLongestInput) {
  AttentionConfig config = small_config("location", "none", "softmax", 1);
  config.longest = 0;
  expect_config_refused(config, "(score.longest), got 0");
  config.longest = 4;
  const Attention attention = random_attention(config);
  EXPECT_NO_THROW(attention.prepare(Tensor::zeros({1, 4, 8}), Tensor::zeros({1, 4, 8})));
  expect_refusal(
      [&] {
        attention.prepare(Tensor::zeros({1, 5, 8}), Tensor::zeros({1, 5, 8}));
      },
      "its weights cover 4 positions, got an input of 5; raise its longest");
  AttentionCache cache;
  const Tensor x = Tensor::zeros({1, 1, 8});
  for (int t = 0; t < 4; ++t) attention(x, x, x, cache);
  expect_refusal([&] { attention(x, x, x, cache); }, "got an input of 5");
}

TEST(AttentionRefusals, Numbers) {
  const auto with = [](auto change) {
    AttentionConfig config = good();
    change(config);
    return config;
  };
  expect_config_refused(with([](auto& c) { c.query = 0; }), "expected widths of query and key of at least 1, got 0");
  expect_config_refused(with([](auto& c) { c.key = -1; }), "got 8 and -1");
  expect_config_refused(with([](auto& c) { c.dropout = 1; }), "dropout must be in [0, 1), got 1");
  expect_config_refused(with([](auto& c) { c.score = "convolution", c.radius = -1; }), "radius of at least 0");
  expect_config_refused(with([](auto& c) { c.window = "causal", c.width = -1; }), "causal: expected a width of at least 0");
  expect_config_refused(with([](auto& c) { c.window = "sliding", c.width = -1; }), "sliding: expected a width of at least 0");
  expect_config_refused(with([](auto& c) { c.window = "local_m", c.width = -1; }), "local_m: expected a width of at least 0");
  expect_config_refused(with([](auto& c) { c.window = "local_p", c.width = 0; }), "local_p: expected a width of at least 1");
  expect_config_refused(with([](auto& c) { c.score = "location_aware", c.filters = 0; }), "at least one filter");
  expect_config_refused(with([](auto& c) { c.score = "location_aware", c.reach = -1; }), "a reach of at least 0");
  expect_config_refused(with([](auto& c) { c.window = "median", c.width = -1; }), "a width of at least 0");
  expect_config_refused(with([](auto& c) { c.align = "gumbel", c.temperature = 0; }), "temperatures above 0");
  expect_config_refused(with([](auto& c) { c.align = "gumbel", c.coldest = 0; }), "temperatures above 0");
  expect_config_refused(with([](auto& c) { c.align = "gumbel", c.cooling = -1; }), "cooling of at least 0");
}

TEST(AttentionRefusals, Tensors) {
  const Attention attention = random_attention(good());
  const Tensor keys = Tensor::zeros({2, 5, 8});
  using Lengths = std::vector<int32_t>;
  expect_refusal([&] { attention.prepare(Tensor::zeros({2, 5, 7}), keys); }, "keys [B,Tk,8] and values [B,Tk,8]");
  expect_refusal([&] { attention.prepare(keys, Tensor::zeros({2, 4, 8})); }, "got [2, 5, 8] and [2, 4, 8]");
  expect_refusal([&] { attention.prepare(keys, Tensor::zeros({3, 5, 8})); }, "got [2, 5, 8] and [3, 5, 8]");
  expect_refusal([&] { attention.prepare(keys, {}); }, "values [B,Tk,8]");
  expect_refusal([&] { attention.prepare(keys, keys, Lengths{5}); },
                 "expected one length for each of 2 sources, got 1");
  expect_refusal([&] { attention.prepare(keys, keys, Lengths{5, 6}); }, "lengths must be in [0, 5], got 6");
  expect_refusal([&] { attention.prepare(keys, keys, Lengths{-1, 5}); }, "lengths must be in [0, 5], got -1");
  const AttentionMemory memory = attention.prepare(keys, keys);
  expect_refusal([&] { attention(Tensor::zeros({3, 1, 8}), memory); }, "expected queries [2,Tq,8], got [3, 1, 8]");
  expect_refusal([&] { attention(Tensor::zeros({2, 1, 7}), memory); }, "expected queries [2,Tq,8], got [2, 1, 7]");
  expect_refusal([&] { attention(Tensor::zeros({2, 8}), memory); }, "expected queries [2,Tq,8], got [2, 8]");
}

TEST(AttentionRefusals, CoverageOfAnotherShape) {
  for (const std::string score : {"scaled_dot", "additive"}) {
    AttentionConfig config = small_config(score, "none", "softmax", 1);
    config.coverage = true;
    const Attention attention = random_attention(config);
    const AttentionMemory memory = attention.prepare(Tensor::zeros({2, 5, 8}), Tensor::zeros({2, 5, 8}));
    const Var coverage = Tensor::zeros({5, 2});
    expect_refusal(
        [&] {
          attention(Tensor::zeros({2, 1, 8}), memory, {.coverage = coverage});
        },
        "expected coverage [2,5], got [5, 2]");
  }
}

TEST(AttentionRefusals, WeightsOfTheStepBefore) {
  for (const auto& [score, window] : {std::pair{"location_aware", "none"}, {"additive", "median"}}) {
    SCOPED_TRACE(score);
    const Attention attention = random_attention(small_config(score, window, "softmax", 1));
    const AttentionMemory memory = attention.prepare(Tensor::zeros({2, 5, 8}), Tensor::zeros({2, 5, 8}));
    expect_refusal([&] { attention(Tensor::zeros({2, 3, 8}), memory); }, "expected one query at a time");
    const Var previous = Tensor::zeros({5, 2});
    expect_refusal(
        [&] {
          attention(Tensor::zeros({2, 1, 8}), memory, {.previous = previous});
        },
        "expected previous weights [2,5], got [5, 2]");
    AttentionCache cache;
    const Tensor one = Tensor::zeros({2, 1, 8});
    expect_refusal([&] { attention(one, one, one, cache); }, "do without the weights of the step before");
    expect_refusal([&] { refuse_previous(attention.config(), "attention."); }, "attention.");
  }
}

// Rows from outside.

TEST(AttentionMenus, TakenNamesAndRowsWithoutMakerAreRefused) {
  expect_refusal([] { add_score({.name = "dot", .make = score_named("dot").make}); }, "got \"dot\", which is taken");
  expect_refusal([] { add_score({.name = "nothing"}); }, "\"nothing\" needs a function that makes it");
  expect_refusal([] { add_align({.name = "softmax", .make = align_named("softmax").make}); }, "which is taken");
  expect_refusal([] { add_align({.name = "nothing"}); }, "\"nothing\" needs a function that makes it");
}

TEST(AttentionMenus, EveryRowSaysWhatItIs) {
  for (const ScoreRow& row : scores()) EXPECT_FALSE(row.formula.empty()) << row.name;
  for (const WindowRow& row : windows()) EXPECT_FALSE(row.formula.empty()) << row.name;
  for (const AlignRow& row : aligns()) EXPECT_FALSE(row.formula.empty() || row.gradient.empty()) << row.name;
  for (const ProjectionRow& row : projections()) EXPECT_FALSE(row.formula.empty()) << row.name;
  EXPECT_EQ(scores().size(), 10u);
  EXPECT_EQ(windows().size(), 7u);
  EXPECT_EQ(aligns().size(), 7u);
}

}  // namespace
}  // namespace attend::test
