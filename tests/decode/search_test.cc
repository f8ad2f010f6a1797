// Search against the enumeration of all answers of a small table-driven model.
#include "attend/decode/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "attend/base/error.h"
#include "attend/base/options.h"
#include "tests/support/markov.h"

namespace attend::decode {
namespace {

using data::kBegin, data::kEnd, data::kPad;
using data::Sequences;
using test::Array;
using test::MarkovModel;
using Tokens = std::vector<int32_t>;

constexpr double kNear = 2e-5;  // float logits

/// Position i of the source is looked at most when id i was said last, a little always.
double look(int64_t layer, int64_t head, int32_t last, int32_t length, int64_t i) {
  const double here = last % length == i ? 1 : 0, even = 1.0 / length;
  return layer == 0 && head == 0 ? here : even;
}

/// Everything that the model can answer with at most `most` tokens and then kEnd, best first.
std::vector<Hypothesis> enumerate(const MarkovModel& model, size_t source, int32_t length, int64_t most, double alpha,
                                  double beta) {
  std::vector<Hypothesis> all;
  const auto grow = [&](auto& self, Hypothesis h, std::vector<double> seen, int32_t before, int32_t last) -> void {
    if (beta > 0) {
      for (int32_t i = 0; i < length; ++i) {
        for (int layer = 0; layer < 2; ++layer) {
          for (int head = 0; head < 2; ++head) seen[static_cast<size_t>(i)] += look(layer, head, last, length, i) / 4;
        }
      }
    }
    for (int32_t token = 0; token < model.vocabulary(); ++token) {
      if (token == kPad || token == kBegin) continue;
      if (token != kEnd && static_cast<int64_t>(h.tokens.size()) == most) continue;
      Hypothesis longer = h;
      const double p = model.log_probability(source, before, last, token);
      longer.log_probability += p;
      longer.token_log_probabilities.push_back(p);
      if (token == kEnd) {
        longer.ended = true;
        longer.score = longer.log_probability /
                       std::pow((5.0 + static_cast<double>(longer.token_log_probabilities.size())) / 6.0, alpha);
        if (beta > 0) {
          for (const double s : seen) longer.score += beta * std::log(std::min(s, 1.0));
        }
        all.push_back(longer);
      } else {
        longer.tokens.push_back(token);
        self(self, longer, seen, last, token);
      }
    }
  };
  grow(grow, {}, std::vector<double>(static_cast<size_t>(length), 0.0), kBegin, kBegin);
  std::sort(all.begin(), all.end(), [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return all;
}

/// How many hypotheses become complete.
struct CountCompleted : SearchWatcher {
  int64_t completed_count = 0;
  void predicted(const Predicted&) override {}
  void completed(int32_t) override { ++completed_count; }
};

void expect_same(const Hypothesis& got, const Hypothesis& expected) {
  EXPECT_EQ(got.tokens, expected.tokens);
  EXPECT_NEAR(got.score, expected.score, kNear);
  EXPECT_NEAR(got.log_probability, expected.log_probability, kNear);
  EXPECT_EQ(got.ended, expected.ended);
  ASSERT_EQ(got.token_log_probabilities.size(), expected.token_log_probabilities.size());
  for (size_t i = 0; i < expected.token_log_probabilities.size(); ++i) {
    EXPECT_NEAR(got.token_log_probabilities[i], expected.token_log_probabilities[i], kNear);
  }
}

/// A table of probabilities, given by (before, last, token); the rest cannot happen.
MarkovModel with_probabilities(int64_t vocabulary, std::map<std::array<int32_t, 3>, double> probabilities) {
  Array table({vocabulary, vocabulary, vocabulary});
  for (double& x : table.v) x = -60;
  for (const auto& [at, p] : probabilities) table(at[0], at[1], at[2]) = std::log(p);
  return MarkovModel({table});
}

Sequences of(const std::vector<Tokens>& rows) { return Sequences(rows); }

Sequences sources(size_t count) {
  std::vector<Tokens> rows;
  for (size_t b = 0; b < count; ++b) rows.push_back(Tokens(2 + b % 3, static_cast<int32_t>(b)));
  return Sequences(rows);
}

TEST(Search, GreedyTakesTheLikeliestAtEachStep) {
  const MarkovModel model = MarkovModel::random(9, 4, 1);
  const auto answers = search(model, sources(8), {.max_length = 6});
  ASSERT_EQ(answers.size(), 8u);
  for (size_t b = 0; b < 8; ++b) {
    Tokens tokens;
    double sum = 0;
    bool ended = false;
    for (int32_t before = kBegin, last = kBegin; !ended && tokens.size() < 6;) {
      int32_t best = 1;
      for (int32_t v = 1; v < 9; ++v) {
        const double p = model.log_probability(b, before, last, v);
        if (v != kBegin && p > model.log_probability(b, before, last, best)) best = v;
      }
      sum += model.log_probability(b, before, last, best);
      ended = best == kEnd;
      if (!ended) tokens.push_back(best);
      before = last, last = best;
    }
    ASSERT_EQ(answers[b].size(), 1u);
    EXPECT_EQ(answers[b][0].tokens, tokens);
    EXPECT_EQ(answers[b][0].ended, ended);
    EXPECT_NEAR(answers[b][0].log_probability, sum, kNear);
    EXPECT_EQ(answers[b][0].token_log_probabilities.size(), tokens.size() + ended);
  }
}

TEST(Search, AWideBeamFindsWhatEnumerationFinds) {
  MarkovModel model = MarkovModel::random(7, 3, 2);
  model.attention = look;
  const Sequences source = sources(6);
  for (const double alpha : {0.0, 1.0}) {
    for (const double beta : {0.0, 0.7}) {
      for (const bool early : {true, false}) {
        SCOPED_TRACE(testing::Message() << alpha << " " << beta << " " << early);
        const SearchOptions options{.beam = 800,
                                    .n_best = 12,
                                    .length_penalty = alpha,
                                    .coverage_penalty = beta,
                                    .early_stop = early,
                                    .max_length = 5};
        const auto answers = search(model, source, options);
        for (size_t b = 0; b < answers.size(); ++b) {
          const auto all = enumerate(model, b, source.lengths[b], 4, alpha, beta);
          ASSERT_EQ(answers[b].size(), 12u);
          for (size_t i = 0; i < 12; ++i) expect_same(answers[b][i], all[i]);
        }
      }
    }
  }
}

TEST(Search, ABeamIsBetterThanGreedyAndItsListIsSortedAndDistinct) {
  const MarkovModel model = MarkovModel::random(12, 16, 3);
  const auto greedy = search(model, sources(16), {.max_length = 12});
  const auto beam = search(model, sources(16), {.beam = 6, .n_best = 6, .max_length = 12});
  int better = 0;
  for (size_t b = 0; b < 16; ++b) {
    ASSERT_EQ(beam[b].size(), 6u);
    std::set<Tokens> seen;
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_TRUE(seen.insert(beam[b][i].tokens).second);
      if (i > 0 && beam[b][i - 1].ended == beam[b][i].ended) {
        EXPECT_GE(beam[b][i - 1].score, beam[b][i].score);
      }
      if (i > 0) {
        EXPECT_GE(beam[b][i - 1].ended, beam[b][i].ended);
      }
      double sum = 0;
      for (const double p : beam[b][i].token_log_probabilities) sum += p;
      EXPECT_NEAR(sum, beam[b][i].log_probability, 1e-9);
    }
    better += beam[b][0].log_probability > greedy[b][0].log_probability + 1e-6;
  }
  EXPECT_GT(better, 3);
}

// Nothing (0.4), or 4 (0.24), or 4 5 (0.36): with α = 1 the scores are ln 0.4, ln 0.24·6/7, ln 0.36·6/8.
TEST(Search, TheLengthPenaltyChangesTheWinner) {
  const MarkovModel model = with_probabilities(6, {{{kBegin, kBegin, kEnd}, 0.4},
                                                   {{kBegin, kBegin, 4}, 0.6},
                                                   {{kBegin, 4, kEnd}, 0.4},
                                                   {{kBegin, 4, 5}, 0.6},
                                                   {{4, 5, kEnd}, 1.0}});
  const auto plain = search(model, of({{4}}), {.beam = 4, .n_best = 3})[0];
  ASSERT_EQ(plain.size(), 3u);
  EXPECT_EQ(plain[0].tokens, Tokens());
  EXPECT_NEAR(plain[0].score, std::log(0.4), kNear);
  const auto longer = search(model, of({{4}}), {.beam = 4, .n_best = 3, .length_penalty = 1})[0];
  EXPECT_EQ(longer[0].tokens, (Tokens{4, 5}));
  EXPECT_NEAR(longer[0].score, std::log(0.36) * 6 / 8, kNear);
  EXPECT_NEAR(longer[0].log_probability, std::log(0.36), kNear);
  EXPECT_NEAR(longer[1].score, std::log(0.4), kNear);
  EXPECT_NEAR(longer[2].score, std::log(0.24) * 6 / 7, kNear);
}

// After kBegin and after 4 position 0 is looked at, after 5 position 1; one head of four says so, the others look
// everywhere. Coverage of "5": (1+3/2)/4 + (3/2)/4 = 1 for both positions; of "4": 1.25 and 0.75.
TEST(Search, TheCoveragePenaltyChangesTheWinner) {
  MarkovModel model = with_probabilities(
      6, {{{kBegin, kBegin, 4}, 0.6}, {{kBegin, kBegin, 5}, 0.4}, {{kBegin, 4, kEnd}, 1.0}, {{kBegin, 5, kEnd}, 1.0}});
  model.attention = look;
  const auto plain = search(model, of({{4, 4}}), {.beam = 2, .n_best = 2})[0];
  EXPECT_EQ(plain[0].tokens, Tokens{4});
  const auto covered = search(model, of({{4, 4}}), {.beam = 2, .n_best = 2, .coverage_penalty = 2})[0];
  EXPECT_EQ(covered[0].tokens, Tokens{5});
  EXPECT_NEAR(covered[0].score, std::log(0.4), kNear);
  EXPECT_NEAR(covered[1].score, std::log(0.6) + 2 * std::log(0.75), kNear);
  EXPECT_NEAR(covered[1].log_probability, std::log(0.6), kNear);
}

TEST(Search, APositionThatNobodySeesIsBadButNotForbidden) {
  MarkovModel model = with_probabilities(6, {{{kBegin, kBegin, kEnd}, 1.0}});
  model.attention = [](int64_t, int64_t, int32_t, int32_t, int64_t i) { return i == 0 ? 1.0 : 0.0; };
  const Hypothesis h = search(model, of({{4, 4}}), {.coverage_penalty = 1})[0][0];
  EXPECT_NEAR(h.score, std::log(1e-6), kNear);
}

TEST(Search, EachUncoveredPositionCostsTheSame) {
  MarkovModel model = with_probabilities(
      6, {{{kBegin, kBegin, 4}, 0.6}, {{kBegin, kBegin, 5}, 0.4}, {{kBegin, 4, kEnd}, 1.0}, {{kBegin, 5, kEnd}, 1.0}});
  // After kBegin and 4 it looks at position 0, after 5 at position 1, and always a little at position 2.
  model.attention = [](int64_t, int64_t, int32_t last, int32_t, int64_t i) {
    return i == 2 ? 0.1 : i == (last == 5 ? 1 : 0) ? 0.9 : 0.0;
  };
  const auto plain = search(model, of({{4, 4, 4}}), {.beam = 2, .n_best = 2})[0];
  EXPECT_EQ(plain[0].tokens, Tokens{4});
  const auto covered = search(model, of({{4, 4, 4}}), {.beam = 2, .n_best = 2, .uncovered_penalty = 3})[0];
  EXPECT_EQ(covered[0].tokens, Tokens{5});
  EXPECT_NEAR(covered[0].score, std::log(0.4) - 3, kNear) << "position 2";
  EXPECT_NEAR(covered[1].score, std::log(0.6) - 6, kNear) << "positions 1 and 2";
}

TEST(Search, LengthsKeepToTheirLimits) {
  const MarkovModel model = MarkovModel::random(8, 4, 5);
  for (const int64_t beam : {1, 4}) {
    const auto answers = search(model, sources(8), {.beam = beam, .n_best = beam, .min_length = 5, .max_length = 7});
    for (const auto& list : answers) {
      for (const Hypothesis& h : list) {
        EXPECT_GE(h.tokens.size(), 5u);
        EXPECT_LE(h.tokens.size(), h.ended ? 6u : 7u);
        EXPECT_EQ(h.token_log_probabilities.size(), h.tokens.size() + h.ended);
      }
    }
  }
}

TEST(Search, TheUsualLimitIsTwiceTheSourceAndTen) {
  // Never ends by itself.
  const MarkovModel model = with_probabilities(6, {{{kBegin, kBegin, 4}, 1}, {{kBegin, 4, 4}, 1}, {{4, 4, 4}, 1}});
  const auto answers = search(model, of({{4, 4, 4}, {4}, {}}), {});
  EXPECT_EQ(answers[0][0].tokens.size(), 16u);
  EXPECT_EQ(answers[1][0].tokens.size(), 12u);
  EXPECT_EQ(answers[2][0].tokens.size(), 10u);
  EXPECT_FALSE(answers[0][0].ended);
  EXPECT_EQ(search(model, of({{4}}), {.min_length = 20})[0][0].tokens.size(), 20u);
}

TEST(Search, NoGramIsRepeated) {
  const MarkovModel model = MarkovModel::random(8, 4, 6);
  for (const int64_t n : {1, 2, 3}) {
    for (const SearchOptions& way :
         {SearchOptions{}, SearchOptions{.beam = 5, .n_best = 5}, SearchOptions{.n_best = 5, .sample = true}}) {
      SearchOptions options = way;
      options.no_repeat_ngram = n, options.min_length = n == 1 ? 3 : 15, options.max_length = 20;
      for (const auto& list : search(model, sources(8), options)) {
        for (const Hypothesis& h : list) {
          std::set<Tokens> seen;
          for (size_t i = 0; i + static_cast<size_t>(n) <= h.tokens.size(); ++i) {
            const auto begin = h.tokens.begin() + static_cast<std::ptrdiff_t>(i);
            EXPECT_TRUE(seen.insert(Tokens(begin, begin + n)).second) << n;
          }
        }
      }
    }
  }
}

TEST(Search, TheUnknownWordIsNotSaidWhereItMayNot) {
  const MarkovModel model = MarkovModel::random(6, 4, 6);
  for (const bool sample : {false, true}) {
    bool said = false;
    for (const bool no_unknown : {false, true}) {
      const SearchOptions options{.beam = sample ? 1 : 5,
                                  .n_best = 5,
                                  .min_length = 6,
                                  .max_length = 12,
                                  .no_unknown = no_unknown,
                                  .sample = sample};
      for (const auto& list : search(model, sources(8), options)) {
        for (const Hypothesis& h : list) {
          const bool unknown = std::ranges::find(h.tokens, data::kUnknown) != h.tokens.end();
          EXPECT_FALSE(no_unknown && unknown);
          said |= unknown;
        }
      }
    }
    EXPECT_TRUE(said) << "it would be";
  }
}

TEST(Search, WhatNothingMayFollowStaysAsItIs) {
  // Ids 1, 4 and 5, each once, no end before 10 tokens.
  const MarkovModel model = MarkovModel::random(6, 1, 7);
  for (const int64_t beam : {1, 3}) {
    const auto answer = search(model, sources(1), {.beam = beam, .min_length = 10, .no_repeat_ngram = 1})[0];
    ASSERT_EQ(answer.size(), 1u);
    EXPECT_EQ(answer[0].tokens.size(), 3u);
    EXPECT_FALSE(answer[0].ended);
  }
}

TEST(Search, APrefixIsForcedAndCounts) {
  const MarkovModel model = MarkovModel::random(7, 3, 8);
  const Sequences source = sources(3);
  const std::vector<Tokens> prefixes{{5, 1}, {}, {6}};
  const auto answers = search(model, source, {.beam = 700, .n_best = 5, .max_length = 5}, prefixes);
  for (size_t b = 0; b < 3; ++b) {
    auto all = enumerate(model, b, source.lengths[b], 4, 0, 0);
    std::erase_if(all, [&](const Hypothesis& h) {
      return h.tokens.size() < prefixes[b].size() ||
             !std::equal(prefixes[b].begin(), prefixes[b].end(), h.tokens.begin());
    });
    ASSERT_EQ(answers[b].size(), 5u);
    for (size_t i = 0; i < 5; ++i) expect_same(answers[b][i], all[i]);
  }
  const auto sampled = search(model, source, {.n_best = 4, .sample = true}, prefixes);
  for (size_t b = 0; b < 3; ++b) {
    ASSERT_EQ(sampled[b].size(), 4u);
    for (const Hypothesis& h : sampled[b]) {
      ASSERT_GE(h.tokens.size(), prefixes[b].size());
      EXPECT_TRUE(std::equal(prefixes[b].begin(), prefixes[b].end(), h.tokens.begin()));
    }
  }
}

TEST(Search, ScoreIsTheSumOverTheGivenTokens) {
  const MarkovModel model = MarkovModel::random(7, 3, 9);
  const std::vector<Tokens> targets{{4, 5, 6, 4}, {}, {1}};
  const auto scored = score(model, {sources(3), Sequences(targets)});
  ASSERT_EQ(scored.size(), 3u);
  for (size_t b = 0; b < 3; ++b) {
    const auto all = enumerate(model, b, 1, 4, 0, 0);
    const auto expected =
        std::find_if(all.begin(), all.end(), [&](const Hypothesis& h) { return h.tokens == targets[b]; });
    expect_same(scored[b], *expected);
  }
  // 5 + 1 + 2 predictions: the search does not wait for the longest.
  EXPECT_EQ(model.rows_asked, 8);
  EXPECT_EQ(model.steps, 5);
}

TEST(Search, ScoreOfWhatWasFoundIsWhatTheSearchSaid) {
  const MarkovModel model = MarkovModel::random(9, 4, 10);
  const auto found = search(model, sources(4), {.beam = 3, .length_penalty = 0.6});
  std::vector<Tokens> tokens;
  for (const auto& list : found) tokens.push_back(list[0].tokens);
  const auto scored = score(model, {sources(4), Sequences(tokens)});
  for (size_t b = 0; b < 4; ++b) {
    if (!found[b][0].ended) continue;
    EXPECT_DOUBLE_EQ(scored[b].log_probability, found[b][0].log_probability);
  }
}

// The random ids of one step: a model of fixed length 1 with probabilities 0.4, 0.3, 0.2, 0.1.
MarkovModel one_label() {
  MarkovModel model = with_probabilities(
      4,
      {{{kBegin, kBegin, 0}, 0.1}, {{kBegin, kBegin, 1}, 0.4}, {{kBegin, kBegin, 2}, 0.3}, {{kBegin, kBegin, 3}, 0.2}});
  model.fixed_length = [](int64_t) { return 1; };
  return model;
}

std::vector<double> frequencies(SearchOptions options) {
  options.sample = true;
  options.n_best = 20000;
  std::vector<double> share(4);
  const auto drawn = search(one_label(), of({{4}}), options)[0];
  for (const Hypothesis& h : drawn) {
    share[static_cast<size_t>(h.tokens[0])] += 1.0 / 20000;
  }
  return share;
}

void expect_shares(const SearchOptions& options, const std::vector<double>& expected) {
  const std::vector<double> share = frequencies(options);
  for (size_t v = 0; v < 4; ++v) {
    if (expected[v] == 0) {
      EXPECT_EQ(share[v], 0) << v;
    } else {
      EXPECT_NEAR(share[v], expected[v], 0.015) << v;  // more than four standard deviations
    }
  }
}

TEST(Sampling, FrequenciesAreTheProbabilities) { expect_shares({}, {0.1, 0.4, 0.3, 0.2}); }
TEST(Sampling, TopKAndTopPKeepTheLikeliest) {
  expect_shares({.top_k = 2}, {0, 4.0 / 7, 3.0 / 7, 0});
  expect_shares({.top_p = 0.65}, {0, 4.0 / 7, 3.0 / 7, 0});
  expect_shares({.top_p = 0.75}, {0, 4.0 / 9, 3.0 / 9, 2.0 / 9});
  expect_shares({.top_k = 3, .top_p = 0.5}, {0, 4.0 / 7, 3.0 / 7, 0});  // 0.5 of the 0.9 that are left
  expect_shares({.top_k = 100}, {0.1, 0.4, 0.3, 0.2});
  expect_shares({.top_p = 1e-9}, {0, 1, 0, 0});
}
TEST(Sampling, TemperatureSharpens) {
  expect_shares({.temperature = 0.5}, {0.01 / 0.3, 0.16 / 0.3, 0.09 / 0.3, 0.04 / 0.3});
  expect_shares({.temperature = 1e-300}, {0, 1, 0, 0});
}

TEST(Sampling, NoTemperatureIsGreedy) {
  const MarkovModel model = MarkovModel::random(80, 4, 11);
  const auto greedy = search(model, sources(8), {.max_length = 30});
  for (const SearchOptions& way :
       {SearchOptions{.temperature = 1e-4}, SearchOptions{.top_k = 1}, SearchOptions{.top_p = 1e-6}}) {
    SearchOptions options = way;
    options.sample = true, options.max_length = 30, options.seed = 5;
    const auto sampled = search(model, sources(8), options);
    for (size_t b = 0; b < 8; ++b) {
      EXPECT_EQ(sampled[b][0].tokens, greedy[b][0].tokens);
      EXPECT_NEAR(sampled[b][0].log_probability, greedy[b][0].log_probability, 1e-9) << "the model's own";
    }
  }
}

TEST(Sampling, ManyIdsAreSortedOnlyAsFarAsNeeded) {
  // The nucleus of 0.9 has several hundred of 1000 ids: frequencies against the set by sorting all of them.
  const int64_t V = 1000;
  Random random(12);
  std::vector<double> p(static_cast<size_t>(V));
  double sum = 0;
  for (double& x : p) sum += x = std::exp(random.normal());
  std::vector<double> sorted = p;
  std::sort(sorted.rbegin(), sorted.rend());
  double mass = 0, least = 0;
  for (const double x : sorted) {
    if (mass >= 0.9 * sum) break;
    mass += x, least = x;
  }
  struct OneRow : models::Model {
    struct None : models::State {
      void take(std::span<const int32_t>) override {}
    };
    void params(const nn::VisitParams&) override {}
    Var loss(const data::Batch&, models::Training*) const override { return {}; }
    std::unique_ptr<models::State> begin(const data::Source&) const override { return std::make_unique<None>(); }
    Tensor next(models::State&, std::span<const int32_t> last) const override {
      Tensor logits({static_cast<int64_t>(last.size()), vocabulary()});
      for (size_t r = 0; r < last.size(); ++r) std::copy(row.begin(), row.end(), logits.data() + r * row.size());
      return logits;
    }
    int64_t vocabulary() const override { return static_cast<int64_t>(row.size()); }
    int64_t answer_length(int64_t) const override { return 1; }
    std::vector<real> row;
  } model;
  for (const double x : p) model.row.push_back(static_cast<real>(std::log(x)));
  std::set<int32_t> seen;
  const auto drawn = search(model, of({{4}}), {.n_best = 6000, .sample = true, .top_p = 0.9})[0];
  for (const Hypothesis& h : drawn) {
    EXPECT_GE(p[static_cast<size_t>(h.tokens[0])], least * (1 - 1e-5));
    seen.insert(h.tokens[0]);
  }
  EXPECT_GT(seen.size(), 450u);
}

TEST(Sampling, DependsOnSeedAndSentenceAlone) {
  const MarkovModel model = MarkovModel::random(20, 4, 13);
  const Sequences source = sources(6);
  const SearchOptions options{.n_best = 3, .max_length = 12, .sample = true, .seed = 7};
  const auto together = search(model, source, options);
  int different = 0;
  for (size_t b = 0; b < 6; ++b) {
    SearchOptions alone = options;
    alone.first_sentence = static_cast<int64_t>(b);
    const auto answer = search(model, of({source.row(static_cast<int64_t>(b))}), alone)[0];
    ASSERT_EQ(answer.size(), 3u);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(answer[i].tokens, together[b][i].tokens);
    different += answer[0].tokens != answer[1].tokens;
    alone.seed = 8;
    different += search(model, of({source.row(static_cast<int64_t>(b))}), alone)[0][0].tokens != answer[0].tokens;
  }
  EXPECT_GT(different, 6);
}

TEST(Search, SentencesAloneAndTogetherGiveTheSame) {
  MarkovModel model = MarkovModel::random(15, 8, 14);
  model.attention = look;
  const Sequences source = sources(8);
  for (const SearchOptions& options :
       {SearchOptions{}, SearchOptions{.beam = 4, .n_best = 3, .length_penalty = 0.7, .coverage_penalty = 0.4}}) {
    const auto together = search(model, source, options);
    for (size_t b = 0; b < 8; ++b) {
      const auto alone = search(model, of({source.row(static_cast<int64_t>(b))}), options)[0];
      ASSERT_EQ(alone.size(), together[b].size());
      for (size_t i = 0; i < alone.size(); ++i) {
        EXPECT_EQ(alone[i].tokens, together[b][i].tokens);
        EXPECT_NEAR(alone[i].score, together[b][i].score, 1e-6);
      }
    }
  }
}

TEST(Search, WhatIsCompleteIsNotAskedAgain) {
  const MarkovModel model = MarkovModel::random(9, 8, 15, 2);
  const auto answers = search(model, sources(8), {.max_length = 9});
  int64_t predictions = 0, longest = 0;
  std::set<size_t> lengths;
  for (const auto& list : answers) {
    const int64_t count = static_cast<int64_t>(list[0].token_log_probabilities.size());
    predictions += count, longest = std::max(longest, count);
    lengths.insert(list[0].tokens.size());
  }
  EXPECT_GT(lengths.size(), 2u) << "the test needs answers of several lengths";
  EXPECT_EQ(model.rows_asked, predictions);
  EXPECT_EQ(model.steps, longest);
  EXPECT_LT(model.takes, longest);
  EXPECT_EQ(model.idle_takes, 0);
  search(model, sources(8), {.beam = 3});
  search(model, sources(8), {.n_best = 3, .sample = true});
  EXPECT_EQ(model.idle_takes, 0);
}

TEST(Search, EarlyStopSavesStepsAndLosesNothing) {
  const MarkovModel model = MarkovModel::random(10, 16, 16);
  SearchOptions options{.beam = 5, .n_best = 2, .max_length = 40};
  const auto stopped = search(model, sources(16), options);
  const int64_t rows = model.rows_asked;
  // A list of five takes longer to settle; its first two are the same.
  options.n_best = 5;
  const auto longer = search(model, sources(16), options);
  EXPECT_LT(rows, model.rows_asked - rows);
  for (size_t b = 0; b < 16; ++b) {
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(stopped[b][i].tokens, longer[b][i].tokens);
  }
}

TEST(Search, WithoutEarlyStopTheBeamthEndIsTheLast) {
  // Ends have 0.5 at each step: the first is the best, and the bound knows it at once.
  std::map<std::array<int32_t, 3>, double> p{{{kBegin, kBegin, 4}, 0.5}, {{kBegin, kBegin, kEnd}, 0.5}};
  p[{kBegin, 4, 4}] = p[{kBegin, 4, kEnd}] = p[{4, 4, 4}] = p[{4, 4, kEnd}] = 0.5;
  const MarkovModel model = with_probabilities(5, p);
  search(model, of({{4, 4, 4, 4}}), {.beam = 3});
  EXPECT_EQ(model.steps, 1);
  search(model, of({{4, 4, 4, 4}}), {.beam = 3, .early_stop = false});
  EXPECT_EQ(model.steps, 1 + 3);
}

TEST(Search, FixedLengthsUseEveryId) {
  MarkovModel model = MarkovModel::random(4, 3, 17);  // ids 0 … 3 are labels here
  model.fixed_length = [](int64_t source) { return source - 2; };
  const Sequences source = of({{0, 0, 0, 0}, {1, 1}, {2, 2, 2}, {1, 1, 1, 1, 1}});
  const auto answers = search(model, source, {.beam = 300, .n_best = 4, .min_length = 4, .max_length = 4});
  std::set<int32_t> used;
  for (size_t b = 0; b < 4; ++b) {
    const size_t length = static_cast<size_t>(source.lengths[b] - 2);
    std::vector<std::pair<double, Tokens>> all;
    for (int code = 0; code < std::pow(4, length); ++code) {
      Tokens tokens;
      double sum = 0;
      int32_t before = kBegin, last = kBegin;
      for (size_t i = 0, c = static_cast<size_t>(code); i < length; ++i, c /= 4) {
        tokens.push_back(static_cast<int32_t>(c % 4));
        sum += model.log_probability(static_cast<size_t>(source.row(static_cast<int64_t>(b))[0]), before, last,
                                     tokens.back());
        before = last, last = tokens.back();
      }
      all.push_back({sum, tokens});
    }
    std::sort(all.rbegin(), all.rend());
    ASSERT_EQ(answers[b].size(), std::min<size_t>(4, all.size()));
    for (size_t i = 0; i < answers[b].size(); ++i) {
      EXPECT_EQ(answers[b][i].tokens, all[i].second);
      EXPECT_NEAR(answers[b][i].score, all[i].first, kNear);
      EXPECT_TRUE(answers[b][i].ended);
      used.insert(answers[b][i].tokens.begin(), answers[b][i].tokens.end());
    }
  }
  EXPECT_EQ(used.size(), 4u);
  const auto scored = score(model, {of({{0, 0, 0, 0}}), of({{2, 3}})});
  EXPECT_EQ(scored[0].tokens, (Tokens{2, 3}));
  EXPECT_EQ(scored[0].token_log_probabilities.size(), 2u);
  EXPECT_TRUE(scored[0].ended);
}

struct Notes : Sink {
  void observe(const Observation& o) override {
    if (o.site != "decoder.memory") return;
    sentences.insert(o.sentence.begin(), o.sentence.end());
    beams.insert(o.beam.begin(), o.beam.end());
    EXPECT_EQ(static_cast<int64_t>(o.sentence.size()), o.weights.dim(0));
    EXPECT_EQ(o.beam.size(), o.sentence.size());
    ++calls;
  }
  std::set<int32_t> sentences, beams;
  int calls = 0;
};

TEST(Search, WhoObservesKnowsWhoseRowItIs) {
  MarkovModel model = MarkovModel::random(9, 4, 18);
  model.attention = look;
  Notes notes;
  {
    const Observing observing(notes);
    search(model, sources(3), {.beam = 2, .coverage_penalty = 0.1});
  }
  EXPECT_EQ(notes.sentences, (std::set<int32_t>{0, 1, 2}));
  EXPECT_EQ(notes.beams, (std::set<int32_t>{0, 1}));
  EXPECT_EQ(notes.calls, 2 * model.steps);
}

TEST(Search, OptionsAreListed) {
  SearchOptions options;
  set_options("search", options, {{"beam", "5"}, {"top_p", "0.5"}, {"early_stop", "false"}});
  EXPECT_EQ(options.beam, 5);
  EXPECT_EQ(options.top_p, 0.5);
  EXPECT_FALSE(options.early_stop);
  EXPECT_EQ(settings_of(options).size(), 15u);
}

void expect_refusal(const std::function<void()>& call, const std::string& says) {
  try {
    call();
    ADD_FAILURE() << "accepted; expected an error that says \"" << says << "\"";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
  }
}

TEST(Search, Refusals) {
  const MarkovModel model = MarkovModel::random(6, 1, 19);
  const auto refuses = [&](const SearchOptions& options, const std::string& says) {
    expect_refusal([&] { search(model, sources(2), options); }, says);
  };
  refuses({.beam = 0}, "beam: expected 1 to 10000, got 0");
  refuses({.n_best = 0}, "n_best: expected 1 to 10000");
  refuses({.beam = 2, .n_best = 3}, "n_best: expected at most the beam, 2, got 3");
  refuses({.length_penalty = -1}, "length_penalty");
  refuses({.coverage_penalty = -1}, "coverage_penalty: expected at least 0");
  refuses({.coverage_penalty = 1}, "coverage_penalty: needs a model that attends to its source at each step");
  refuses({.uncovered_penalty = -1}, "uncovered_penalty: expected at least 0");
  refuses({.uncovered_penalty = 1}, "uncovered_penalty: needs a model that attends to its source at each step");
  refuses({.min_length = -1}, "min_length");
  refuses({.min_length = 5, .max_length = 4}, "min_length: expected at most max_length, 4, got 5");
  refuses({.no_repeat_ngram = -1}, "no_repeat_ngram");
  refuses({.temperature = 0}, "temperature: expected more than 0");
  refuses({.top_k = -1}, "top_k");
  refuses({.top_p = 0}, "top_p: expected more than 0 and at most 1, got 0");
  refuses({.top_p = 1.5}, "top_p: expected more than 0 and at most 1, got 1.5");
  expect_refusal([&] { search(model, sources(2), {}, {{4}}); }, "one prefix per source");
  expect_refusal([&] { search(model, sources(1), {}, {{kEnd}}); }, "got 3 for sentence 0");
  expect_refusal([&] { search(model, sources(1), {}, {{6}}); }, "below 6");
  expect_refusal([&] { search(model, sources(1), {.max_length = 1}, {{4, 4}}); }, "prefix must not be longer");
  expect_refusal([&] { score(model, {sources(2), of({{4}})}); }, "as many targets as sources");
  expect_refusal([&] { score(model, {sources(1), of({{4, kPad}})}); }, "got 0 for sentence 0");
  MarkovModel labels = MarkovModel::random(6, 1, 19);
  labels.fixed_length = [](int64_t) { return 1; };
  expect_refusal([&] { score(labels, {sources(1), of({{4, 4}})}); }, "must have 1 tokens, got 2");
  Array broken({6, 6, 6});
  for (double& x : broken.v) x = std::numeric_limits<double>::quiet_NaN();
  expect_refusal([&] { search(MarkovModel({broken}), sources(1), {}); }, "logits must be numbers");
}

TEST(Search, AtTheMaximumLengthABeamIsRanked) {
  const int64_t vocabulary = 12, longest = 4;
  Array table({vocabulary, vocabulary, vocabulary});
  Random random(5);
  for (double& x : table.v) x = random.normal();
  for (int64_t a = 0; a < vocabulary; ++a) {
    for (int64_t b = 0; b < vocabulary; ++b) table(a, b, kEnd) = -60;  // nothing ends by itself
  }
  const MarkovModel model({table});
  for (const int64_t beam : {2, 3, 5}) {
    CountCompleted watcher;
    const SearchOptions options{.beam = beam, .n_best = beam, .max_length = longest};
    const auto answers = search(model, of({{4, 4}}), options, {}, &watcher)[0];
    EXPECT_EQ(watcher.completed_count, beam);
    ASSERT_EQ(static_cast<int64_t>(answers.size()), beam);
    for (const Hypothesis& answer : answers) EXPECT_FALSE(answer.ended);
  }
}

}  // namespace
}  // namespace attend::decode
