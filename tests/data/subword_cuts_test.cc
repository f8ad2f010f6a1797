#include "attend/data/subword_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "attend/data/batch.h"
#include "attend/data/tokeniser.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;

const std::vector<std::string>& cut_sentences() {
  static const std::vector<std::string> lines = {"der große Hund läuft über die Straße", "während eine Katze schläft",
                                                 "zwei Frauen laufen über die großen Straßen",
                                                 "ein Hund und eine Katze laufen",
                                                 "der Hund schläft während die Frauen laufen"};
  return lines;
}

std::unique_ptr<Tokeniser> learned(const std::string& kind) {
  return train_tokeniser({.kind = kind, .vocabulary = 70}, [at = size_t{0}](std::string& line) mutable {
    if (at == 20 * cut_sentences().size()) return false;
    line = cut_sentences()[at++ % cut_sentences().size()];
    return true;
  });
}

struct CutKind {
  const char* kind;
  SubwordCutOptions options, hardly;  // hardly: so that nothing but the usual cut is ever drawn
};
const CutKind kCutKinds[] = {{"bpe", {.dropout = 0.3}, {.dropout = 1e-7}},
                             {"unigram", {.alpha = 0.2}, {.alpha = 1000}}};

TEST(SubwordCuts, KeepTheText) {
  for (const CutKind& one : kCutKinds) {
    const auto tokeniser = learned(one.kind);
    const auto cuts = tokeniser->cuts(one.options);
    Random random(3);
    for (const std::string& line : cut_sentences()) {
      const std::vector<int32_t> ids = tokeniser->encode(line);
      std::set<std::vector<int32_t>> drawn;
      for (int i = 0; i < 20; ++i) {
        const std::vector<int32_t> other = (*cuts)(ids, random);
        ASSERT_EQ(tokeniser->decode(other), line) << one.kind;
        drawn.insert(other);
      }
      EXPECT_GT(drawn.size(), 2u) << one.kind << ": " << line;
    }
  }
}

TEST(SubwordCuts, AreTheUsualOnesWhereNothingElseIsLikely) {
  for (const CutKind& one : kCutKinds) {
    const auto tokeniser = learned(one.kind);
    const auto cuts = tokeniser->cuts(one.hardly);
    Random random(4);
    for (const std::string& line : cut_sentences()) {
      EXPECT_EQ((*cuts)(tokeniser->encode(line), random), tokeniser->encode(line)) << one.kind << ": " << line;
    }
  }
}

TEST(SubwordCuts, AreAFunctionOfTheRandomNumbers) {
  for (const CutKind& one : kCutKinds) {
    const auto tokeniser = learned(one.kind);
    const auto cuts = tokeniser->cuts(one.options);
    const std::vector<int32_t> ids = tokeniser->encode(cut_sentences()[0]);
    Random a(5, 1), b(5, 1), other(5, 2);
    const std::vector<int32_t> first = (*cuts)(ids, a);
    EXPECT_EQ(first, (*cuts)(ids, b)) << one.kind;
    EXPECT_NE(first, (*cuts)(ids, other)) << one.kind;
  }
}

TEST(SubwordCuts, LeaveTokensWithoutTextAsTheyAre) {
  for (const CutKind& one : kCutKinds) {
    const auto tokeniser = learned(one.kind);
    const auto cuts = tokeniser->cuts(one.options);
    std::vector<int32_t> ids = tokeniser->encode("der Hund ✓ läuft");
    ASSERT_EQ(std::ranges::count(ids, kUnknown), 1);
    Random random(6);
    const std::vector<int32_t> other = (*cuts)(ids, random);
    EXPECT_EQ(std::ranges::count(other, kUnknown), 1) << one.kind;
    EXPECT_EQ(tokeniser->decode(other), tokeniser->decode(ids)) << one.kind;
    EXPECT_TRUE((*cuts)({}, random).empty());
  }
}

std::vector<SubwordPiece> pieces_of_abc(const std::vector<std::pair<std::string, float>>& pieces) {
  std::vector<SubwordPiece> all(kFirstWord, {"", 0, false});
  for (const auto& [text, score] : pieces) all.push_back({text, score});
  return all;
}

std::map<std::vector<int32_t>, double> shares(const SubwordCuts& cuts, const std::vector<int32_t>& ids, int draws) {
  std::map<std::vector<int32_t>, double> found;
  Random random(7);
  for (int i = 0; i < draws; ++i) found[cuts(ids, random)] += 1.0 / draws;
  return found;
}

// ▁ab·c: p(piece)^α of all cuts, which are ▁|a|b|c, ▁a|b|c, ▁a|bc, ▁|a|bc, ▁|ab|c, ▁|abc.
TEST(SubwordCuts, UnigramCutsAreDrawnByTheirProbability) {
  const auto pieces = pieces_of_abc(
      {{"▁", -2}, {"a", -3}, {"b", -3.5f}, {"c", -2.5f}, {"▁a", -3}, {"bc", -4}, {"ab", -5}, {"abc", -6}});
  const double alpha = 0.5;
  const SubwordCuts cuts(pieces, {.alpha = alpha});
  const std::vector<std::pair<std::vector<int32_t>, double>> all = {
      {{4, 5, 6, 7}, -11}, {{8, 6, 7}, -9}, {{8, 9}, -7}, {{4, 5, 9}, -9}, {{4, 10, 7}, -9.5}, {{4, 11}, -8}};
  double sum = 0;
  for (const auto& [ids, score] : all) sum += std::exp(alpha * score);
  const auto found = shares(cuts, {8, 6, 7}, 20000);
  EXPECT_EQ(found.size(), all.size());
  for (const auto& [ids, score] : all) EXPECT_NEAR(found.at(ids), std::exp(alpha * score) / sum, 0.015) << score;
}

// ▁ab with the merges a·b (first) and ▁·ab: from ▁|a|b one merge is possible, and then another, each left out with p.
TEST(SubwordCuts, BpeLeavesOutMergesAsOftenAsItSays) {
  const auto pieces = pieces_of_abc({{"▁", 0}, {"a", 0}, {"b", 0}, {"ab", -1}, {"▁ab", -2}});
  const double p = 0.3;
  const auto found = shares(SubwordCuts(pieces, {.dropout = p}), {8}, 20000);
  EXPECT_NEAR(found.at({4, 5, 6}), p, 0.015);
  EXPECT_NEAR(found.at({4, 7}), (1 - p) * p, 0.015);
  EXPECT_NEAR(found.at({8}), (1 - p) * (1 - p), 0.015);
}

TEST(SubwordCuts, RejectWhatTheyCannotDo) {
  const auto pieces = pieces_of_abc({{"a", 0}});
  EXPECT_NE(
      message_of([&] { SubwordCuts(pieces, {.dropout = 0.1, .alpha = 0.1}); }).find("either dropout (bpe) or alpha"),
      std::string::npos);
  EXPECT_NE(message_of([&] { SubwordCuts(pieces, {.dropout = 1}); }).find("dropout"), std::string::npos);
  const SubwordCuts cuts(pieces, {.dropout = 0.1});
  Random random;
  EXPECT_NE(message_of([&] { (void)cuts(std::vector<int32_t>{5}, random); }).find("expected ids from 0 to 4, got 5"),
            std::string::npos);
  EXPECT_EQ(train_tokeniser({.kind = "words"},
                            [n = 0](std::string& line) mutable {
                              line = "a b";
                              return n++ == 0;
                            })
                ->cuts({.dropout = 0.1}),
            nullptr);
}

}  // namespace
}  // namespace attend::data
