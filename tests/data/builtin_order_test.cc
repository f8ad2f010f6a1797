// The corpora that tell apart what a network knows of the order of its input, and the long chains of clauses.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "attend/data/builtin.h"
#include "tests/data/corpus.h"
#include "tests/support/text.h"

namespace attend::data {
namespace {

using test::all_of;
using test::corpus_of;
using test::words_of;

TEST(BuiltinSort, HasEachLetterOnceAndInOrder) {
  std::set<size_t> lengths;
  for (const Example* example : all_of(corpus_of("sort"))) {
    EXPECT_TRUE(std::ranges::is_sorted(example->target)) << example->target;
    EXPECT_TRUE(std::ranges::is_permutation(example->source, example->target)) << example->source;
    EXPECT_EQ(std::ranges::adjacent_find(example->target), example->target.end()) << "twice: " << example->target;
    lengths.insert(example->source.size());
  }
  EXPECT_EQ(*lengths.begin(), 2u);
  EXPECT_EQ(*lengths.rbegin(), 12u);
}

TEST(BuiltinCourses, HaveAnAnswerThatDependsOnTheOrderAlone) {
  std::map<std::string, int> first_by_phrase, seen_by_phrase;
  for (const Example* example : all_of(corpus_of("courses"))) {
    const std::vector<std::string> words = words_of(example->source);
    EXPECT_NE(words.front(), words.back());
    const std::string phrase = words.at(2) + " " + words.at(1);
    ++seen_by_phrase[phrase], first_by_phrase[phrase] += example->target == words.front();
    EXPECT_TRUE(example->target == words.front() || example->target == words.back()) << example->source;
  }
  size_t harder = 0;
  for (const auto& [phrase, count] : seen_by_phrase) {
    const int first = first_by_phrase[phrase];
    EXPECT_TRUE(first == 0 || first == count) << phrase << " means one thing";
    harder += first == count;
  }
  EXPECT_GE(harder, 2u);
  EXPECT_LT(harder, seen_by_phrase.size());
}

TEST(BuiltinRecall, AsksForTheFirstOfUpToSixtyOneWords) {
  size_t longest = 0;
  for (const Example* example : all_of(corpus_of("recall"))) {
    const std::vector<std::string> words = words_of(example->source);
    EXPECT_EQ(example->target, words.front());
    EXPECT_EQ(std::ranges::count(words, example->target), 1) << "it is said once: " << example->source;
    longest = std::max(longest, words.size());
  }
  EXPECT_EQ(longest, 61u);
}

TEST(BuiltinChains, AreClausesOfUpToSixtyWordsWithTheirLinks) {
  size_t longest = 0, joints = 0;
  for (const Example* example : all_of(corpus_of("chains"))) {
    const std::vector<std::string> source = words_of(example->source), target = words_of(example->target);
    longest = std::max({longest, source.size(), target.size()});
    for (const Link& link : example->links) {
      ASSERT_LT(static_cast<size_t>(link.source), source.size()) << example->source;
      ASSERT_LT(static_cast<size_t>(link.target), target.size()) << example->target;
      const bool joins = source[static_cast<size_t>(link.source)] == "and";
      EXPECT_EQ(joins, target[static_cast<size_t>(link.target)] == "aur") << example->source;
      joints += joins;
    }
    EXPECT_EQ(std::ranges::count(source, "and"), std::ranges::count(target, "aur")) << example->source;
  }
  EXPECT_LE(longest, 60u);
  EXPECT_GE(longest, 58u);
  EXPECT_GT(joints, 15000u);
}

}  // namespace
}  // namespace attend::data
