// A search that may not say everything: it finds the likeliest of what makes sense, and leaves room to end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "attend/decode/search.h"
#include "tests/support/markov.h"

namespace attend::decode {
namespace {

using data::kBegin, data::kEnd, data::kPad, data::kUnknown;
using data::Sequences;
using test::MarkovModel;
using Tokens = std::vector<int32_t>;

constexpr int64_t kVocabulary = 8;
constexpr int32_t kOpen = 4, kClose = 5;  // 6 and 7 are words

/// Brackets that match: nothing ends or closes where nothing is open; what is open can still be closed. An answer has at
/// most 2·(number of the sentence) + 4 tokens and its end.
class Brackets : public Constraint {
 public:
  void ban(int32_t sentence, std::span<const int32_t> said, int64_t room, std::vector<int32_t>& banned) const override {
    const int64_t open = std::ranges::count(said, kOpen) - std::ranges::count(said, kClose);
    rooms.insert(room), sentences.insert(sentence);
    if (open == 0) banned.push_back(kClose);
    if (open > 0) banned.push_back(kEnd);
    if (room < open + 3) banned.push_back(kOpen);                        // open, close, end
    if (room < open + 2) banned.insert(banned.end(), {kUnknown, 6, 7});  // a word, and the end
  }
  int64_t longest(int32_t sentence) const override { return 2 * sentence + 5; }

  mutable std::set<int64_t> rooms;
  mutable std::set<int32_t> sentences;
};

bool matches(const Tokens& tokens) {
  int64_t open = 0;
  for (const int32_t token : tokens) {
    open += token == kOpen ? 1 : token == kClose ? -1 : 0;
    if (open < 0) return false;
  }
  return open == 0;
}

Sequences one_word_sources(size_t count) {
  std::vector<Tokens> rows;
  for (size_t b = 0; b < count; ++b) rows.push_back({static_cast<int32_t>(b)});
  return Sequences(rows);
}

/// The log-probability of the likeliest answer that matches, of at most `most` tokens before its end.
double best_of_all(const MarkovModel& model, size_t source, int64_t most) {
  double best = -1e9;
  const auto grow = [&](auto& self, Tokens& said, double sum, int32_t before, int32_t last) -> void {
    if (matches(said)) best = std::max(best, sum + model.log_probability(source, before, last, kEnd));
    if (static_cast<int64_t>(said.size()) == most) return;
    for (int32_t token = 0; token < kVocabulary; ++token) {
      if (token == kPad || token == kBegin || token == kEnd) continue;
      said.push_back(token);
      self(self, said, sum + model.log_probability(source, before, last, token), last, token);
      said.pop_back();
    }
  };
  Tokens said;
  grow(grow, said, 0, kBegin, kBegin);
  return best;
}

TEST(Constraint, ABeamFindsTheLikeliestAnswerThatMakesSense) {
  const MarkovModel model = MarkovModel::random(kVocabulary, 3, 4);
  const Brackets brackets;
  const auto answers = search(model, one_word_sources(2), {.beam = 3000, .early_stop = false}, {}, nullptr, &brackets);
  for (size_t b = 0; b < 2; ++b) {
    const Hypothesis& best = answers[b].at(0);
    EXPECT_TRUE(matches(best.tokens));
    EXPECT_TRUE(best.ended);
    EXPECT_NEAR(best.log_probability, best_of_all(model, b, static_cast<int64_t>(2 * b + 4)), 2e-5);
  }
  EXPECT_EQ(brackets.sentences, (std::set<int32_t>{0, 1}));
  EXPECT_EQ(*brackets.rooms.rbegin(), 7) << "of the longest answer, all is left";
  EXPECT_EQ(*brackets.rooms.begin(), 1) << "of a full one, the end";
}

TEST(Constraint, EveryWayOfSearchingKeepsToIt) {
  const MarkovModel model = MarkovModel::random(kVocabulary, 5, 9, 2);
  const Brackets brackets;
  int64_t nested = 0;
  for (const SearchOptions& options : {SearchOptions{}, SearchOptions{.beam = 4, .n_best = 3},
                                       SearchOptions{.n_best = 20, .sample = true, .seed = 3}}) {
    for (const auto& answers : search(model, one_word_sources(12), options, {}, nullptr, &brackets)) {
      for (const Hypothesis& one : answers) {
        EXPECT_TRUE(matches(one.tokens));
        EXPECT_TRUE(one.ended);
        nested += std::ranges::count(one.tokens, kOpen) > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(nested, 0) << "there was something to keep to";
}

TEST(Constraint, LengthsThatAreAskedForComeBeforeItsOwn) {
  const MarkovModel model = MarkovModel::random(kVocabulary, 5, 9, 2);
  const Brackets brackets;
  const auto longest = [&](const SearchOptions& options) {
    brackets.rooms.clear();
    for (const auto& answers : search(model, one_word_sources(12), options, {}, nullptr, &brackets)) {
      EXPECT_TRUE(matches(answers.at(0).tokens));
    }
    return *brackets.rooms.rbegin();
  };
  EXPECT_EQ(longest({}), 27);
  EXPECT_EQ(longest({.max_length = 9}), 9);
  EXPECT_EQ(longest({.longest = 8}), 8) << "most that no max_length may mean";
}

TEST(Constraint, IsToldWhatWasForced) {
  const MarkovModel model = MarkovModel::random(kVocabulary, 3, 4);
  const Brackets brackets;
  const auto answers = search(model, one_word_sources(2), {.beam = 4}, {{kOpen, 6}, {}}, nullptr, &brackets);
  const Tokens& tokens = answers[0].at(0).tokens;
  ASSERT_GE(tokens.size(), 3u);
  EXPECT_EQ(Tokens(tokens.begin(), tokens.begin() + 2), (Tokens{kOpen, 6}));
  EXPECT_TRUE(matches(tokens));
}

TEST(Constraint, DoesNotChangeHowManyTokensAFixedAnswerHas) {
  MarkovModel model = MarkovModel::random(kVocabulary, 3, 4);
  model.fixed_length = [](int64_t) { return 3; };
  struct NoWords : Constraint {
    void ban(int32_t, std::span<const int32_t>, int64_t, std::vector<int32_t>& banned) const override {
      banned.insert(banned.end(), {6, 7});
    }
    int64_t longest(int32_t) const override { return 9; }
  } constraint;
  for (const auto& answers : search(model, one_word_sources(3), {}, {}, nullptr, &constraint)) {
    EXPECT_EQ(answers.at(0).tokens.size(), 3u);
    for (const int32_t token : answers[0].tokens) EXPECT_LT(token, 6);
  }
}

}  // namespace
}  // namespace attend::decode
