// Hindi to English: the reverse of the Hindi corpus, of sentences that Hindi says completely.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "attend/base/random.h"
#include "attend/data/builtin.h"
#include "attend/data/hindi_sentence.h"
#include "attend/data/hindi_unambiguous.h"
#include "tests/data/corpus.h"
#include "tests/support/text.h"

namespace attend::data {
namespace {

using test::all_of;
using test::corpus_of;
using test::words_of;

TEST(BuiltinEnglish, IsWhatTheGrammarSaysTheOtherWayRound) {
  const std::vector<Example>& all = corpus_of("english").test;
  for (size_t i = 0; i < 100; ++i) {
    Links links = all[i].links;
    EXPECT_TRUE(std::ranges::is_sorted(links)) << all[i].source;
    for (Link& link : links) std::swap(link.source, link.target);
    std::ranges::sort(links);
    const std::vector<Example> derived = hindi_derivations(all[i].target);
    const auto same = [&](const Example& one) { return one.target == all[i].source && one.links == links; };
    EXPECT_TRUE(std::ranges::any_of(derived, same)) << all[i].source << " → " << all[i].target;
  }
}

class DrawnChoices : public hindi::Choices {
 public:
  size_t among(std::span<const int> weights) override {
    int left =
        static_cast<int>(random_.below(static_cast<uint64_t>(std::accumulate(weights.begin(), weights.end(), 0))));
    size_t index = 0;
    while (left >= weights[index]) left -= weights[index++];
    return index;
  }

 private:
  Random random_{11};
};

TEST(BuiltinEnglish, HasOneReadingOfEachHindiSentence) {
  const hindi::Lexicon lexicon;
  DrawnChoices choices;
  std::map<std::string, std::set<std::string>> all, usual;
  for (int i = 0; i < 150000; ++i) {
    const auto clause = hindi::choose_clause(choices, lexicon);
    if (!clause) continue;
    const Example said = hindi::say(*clause);
    all[said.target].insert(said.source);
    if (hindi::is_usual_reading(*clause)) usual[said.target].insert(said.source);
  }
  for (const auto& [hindi, english] : usual) {
    EXPECT_EQ(english.size(), 1u) << hindi << ": " << *english.begin() << "; " << *english.rbegin();
  }
  const auto ambiguous = [](const auto& one) { return one.second.size() > 1; };
  EXPECT_GT(std::ranges::count_if(all, ambiguous), 1000) << "of all readings, many sentences have several";
  EXPECT_GT(usual.size(), 50000u);
}

TEST(BuiltinEnglish, SharesAVerbAmongItsHindiWords) {
  size_t shared = 0;
  for (const Example* example : all_of(corpus_of("english"))) {
    const std::vector<std::string> hindi = words_of(example->source), english = words_of(example->target);
    for (size_t t = 0; t < english.size(); ++t) {
      if (english[t] != "going") continue;
      std::vector<std::string> of;
      for (const Link& link : example->links) {
        if (link.target == static_cast<int>(t)) of.push_back(hindi.at(static_cast<size_t>(link.source)));
      }
      ASSERT_EQ(of.size(), 2u) << example->source;
      EXPECT_EQ(of[0], "ja");
      EXPECT_TRUE(of[1] == "raha" || of[1] == "rahe" || of[1] == "rahi") << of[1];
      ++shared;
    }
  }
  EXPECT_GT(shared, 300u);
}

TEST(BuiltinAligned, CorporaHaveLinksThroughout) {
  for (const BuiltinRow& row : builtin_corpora()) {
    if (!row.aligned) continue;
    for (const Example* example : all_of(corpus_of(row.name))) {
      EXPECT_FALSE(example->links.empty()) << row.name << ": " << example->source;
      EXPECT_TRUE(example->also.empty());
    }
  }
}

/// "b=3,d?": what is said of whom, and who is asked for.
struct Fact {
  char name, value, asked;
};
std::vector<Fact> facts_of(const std::string& text) {
  std::vector<Fact> facts;
  for (const std::string& word : words_of(text)) {
    EXPECT_EQ(word.size(), 6u);
    EXPECT_EQ(word.substr(1, 1) + word.substr(3, 1) + word.substr(5), "=,?") << word;
    facts.push_back({word[0], word[2], word[4]});
  }
  return facts;
}

TEST(BuiltinLookup, AnswersEachQuestionFromTheText) {
  for (const char* corpus : {"lookup", "lookback"}) {
    std::map<int64_t, size_t> distances;
    size_t none = 0;
    for (const Example* example : all_of(corpus_of(corpus))) {
      const std::vector<Fact> facts = facts_of(example->source);
      const std::vector<std::string> answers = words_of(example->target);
      ASSERT_EQ(answers.size(), facts.size());
      for (size_t i = 0; i < facts.size(); ++i) {
        const auto said = [&](const Fact& one) { return one.name == facts[i].asked; };
        ASSERT_LE(std::ranges::count_if(facts, said), 1) << "said once: " << example->source;
        const auto found = std::ranges::find_if(facts, said);
        EXPECT_EQ(answers[i], found == facts.end() ? "none" : std::string(1, found->value)) << example->source;
        if (found == facts.end()) ++none;
        if (found != facts.end()) ++distances[found - facts.begin() - static_cast<int64_t>(i)];
      }
    }
    EXPECT_GT(none, 10000u) << corpus;
    if (std::string(corpus) == "lookback") {
      EXPECT_EQ(distances.size(), 1u);
      EXPECT_GT(distances[-2], 10000u);
    } else {
      EXPECT_EQ(distances.size(), 19u) << "from nine places before to nine after";
    }
  }
}

}  // namespace
}  // namespace attend::data
