// The built-in corpora of documents: stories with questions, and news with headlines.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "attend/data/builtin.h"
#include "attend/data/builtin_invented.h"
#include "attend/data/sentences.h"
#include "tests/data/corpus.h"
#include "tests/support/text.h"

namespace attend::data {
namespace {

using test::all_of;
using test::corpus_of;
using test::words_of;

using Words = std::vector<std::string>;

Words sentences_in(const std::string& text) {
  Words sentences;
  for (const TextRange& range : split_sentences(text)) {
    sentences.push_back(text.substr(static_cast<size_t>(range.begin), static_cast<size_t>(range.end - range.begin)));
  }
  return sentences;
}

/// The words of a sentence without its marks.
Words plain_words(std::string sentence) {
  std::erase_if(sentence, [](char c) { return c == '.' || c == '?' || c == ','; });
  return words_of(sentence);
}

bool begins_with_capital(const std::string& word) { return word[0] >= 'A' && word[0] <= 'Z'; }

/// Reads a story the way a person would, and answers: independent of how it was made.
class Listener {
 public:
  explicit Listener(const std::string& story) {
    for (const std::string& sentence : sentences_in(story)) hear(plain_words(sentence));
  }

  std::string answer(const std::string& question) const {
    const Words words = plain_words(question);
    const auto at = [&](const char* word) {
      return static_cast<size_t>(std::ranges::find(words, word) - words.begin());
    };
    if (words[0] == "Who") return owner_.at(words.at(at("the") + 1));
    if (words[0] == "How") return amount_.at(words.at(4)).at(words.at(2));
    const auto name = std::ranges::find_if(words, [](const std::string& word) {
      return begins_with_capital(word) && word != "Where" && word != "Before" && word != "After";
    });
    const Words& path = path_.at(*name);
    if (at("the") == words.size()) return path.back();
    const auto place = std::ranges::find(path, words.at(at("the") + 1));
    const bool before = at("before") < words.size() || words[0] == "Before";
    return before ? *std::prev(place) : *std::next(place);
  }

 private:
  void hear(Words words) {
    if (words[0] == "Then" || words[0] == "Later") words.erase(words.begin());
    if (words[0] == "After") words.erase(words.begin(), words.begin() + 2);
    const std::string& who = words[0];
    if (words[1] == "took" || words[1] == "found" || words[1] == "picked") {
      owner_[words.back()] = who;
    } else if (words[1] == "gave" || words[1] == "handed") {
      EXPECT_EQ(owner_.at(words.at(3)), who);
      owner_[words.at(3)] = words.back();
    } else if (words[2] == "to") {
      path_[who].push_back(words.back());
    } else {
      for (size_t i = 2; i < words.size(); i += 3) amount_[who][words.at(i + 1)] = words[i];
    }
  }

  std::map<std::string, std::string> owner_;
  std::map<std::string, Words> path_;
  std::map<std::string, std::map<std::string, std::string>> amount_;
};

TEST(BuiltinStories, AnswerTheirQuestions) {
  for (const Example* example : all_of(corpus_of("stories"))) {
    ASSERT_EQ(example->further.size(), 1u);
    EXPECT_EQ(Listener(example->source).answer(example->further[0]), example->target)
        << example->source << "\n" << example->further[0];
  }
}

TEST(BuiltinStories, TellWhereTheAnswerStands) {
  for (const Example* example : all_of(corpus_of("stories"))) {
    const std::vector<TextRange> sentences = split_sentences(example->source);
    EXPECT_GE(sentences.size(), 4u);
    EXPECT_LE(sentences.size(), 10u);
    ASSERT_EQ(example->found.size(), 1u);
    const TextRange& place = example->found[0];
    EXPECT_EQ(example->source.substr(static_cast<size_t>(place.begin), static_cast<size_t>(place.end - place.begin)),
              example->target);
    ASSERT_FALSE(example->support.empty());
    bool supported = false;
    for (const int32_t one : example->support) {
      const TextRange& sentence = sentences.at(static_cast<size_t>(one));
      supported = supported || (sentence.begin <= place.begin && place.end <= sentence.end);
    }
    EXPECT_TRUE(supported) << example->source << "\n" << example->further[0];
  }
}

TEST(BuiltinStories, AreOfFiveKindsInEqualShares) {
  std::map<std::string, int> counts;
  for (const Example& example : corpus_of("stories").train) ++counts[example.group];
  ASSERT_EQ(counts.size(), 5u);
  for (const auto& [kind, count] : counts) EXPECT_NEAR(count, 2000, 150) << kind;
}

/// Without reading: the answer that is right most often, of each kind.
TEST(BuiltinStories, CannotBeGuessed) {
  std::map<std::string, std::map<std::string, int>> counts;
  size_t last_place = 0, asked = 0;
  for (const Example& example : corpus_of("stories").train) {
    ++counts[example.group][example.target];
    if (example.group != "where") continue;
    ++asked;
    last_place += static_cast<size_t>(example.support.back()) + 1 == split_sentences(example.source).size();
  }
  for (const auto& [kind, answers] : counts) {
    for (const auto& [answer, count] : answers) EXPECT_LT(count, 400) << kind << ": " << answer;
  }
  EXPECT_LT(last_place, asked / 2) << "the last sentence is not the answer";
}

/// Capitalised words that training has, too.
std::set<std::string> names_in(const std::vector<Example>& examples) {
  std::set<std::string> names;
  for (const Example& example : examples) {
    for (std::string word : words_of(example.source)) {
      std::erase(word, '.');
      if (!word.empty() && begins_with_capital(word)) names.insert(word);
    }
  }
  return names;
}

TEST(BuiltinStories, HoldOutThePeople) {
  const BuiltinCorpus& corpus = corpus_of("stories");
  const std::set<std::string> train = names_in(corpus.train), valid = names_in(corpus.valid);
  const std::set<std::string> test = names_in(corpus.test);
  EXPECT_GT(train.size(), 3000u);
  EXPECT_GT(test.size(), 300u);
  const std::set<std::string> shared = {"Then", "Later", "After"};
  for (const std::string& name : test) {
    EXPECT_EQ(train.contains(name) || valid.contains(name), shared.contains(name)) << name;
  }
  for (const std::string& name : valid) EXPECT_EQ(train.contains(name), shared.contains(name)) << name;
}

TEST(BuiltinHeadlines, SayWhatTheNewsIs) {
  const std::set<std::string> added = {"Fire", "Strike", "Former", "Floods", "Snowdrifts", "Landslides", "Storms"};
  for (const Example* example : all_of(corpus_of("headlines"))) {
    const Words sentences = sentences_in(example->source);
    EXPECT_GE(sentences.size(), 3u);
    EXPECT_LE(sentences.size(), 5u);
    ASSERT_EQ(example->support.size(), 1u);
    const Words news = words_of(sentences.at(static_cast<size_t>(example->support[0])));
    size_t names = 0;
    for (const std::string& word : words_of(example->target)) {
      if (!begins_with_capital(word) || added.contains(word)) continue;
      ++names;
      EXPECT_TRUE(std::ranges::find(news, word) != news.end()) << word << " in " << example->source;
    }
    EXPECT_GE(names, 1u) << example->target;
  }
}

TEST(BuiltinHeadlines, NeedCopyingOfUnseenNames) {
  const BuiltinCorpus& corpus = corpus_of("headlines");
  const std::set<std::string> train = names_in(corpus.train);
  for (const auto* part : {&corpus.valid, &corpus.test}) {
    for (const Example& example : *part) {
      const Words words = words_of(example.target);
      EXPECT_TRUE(std::ranges::any_of(words, [&](const std::string& word) {
        return begins_with_capital(word) && !train.contains(word);
      })) << example.target;
    }
  }
  const std::set<std::string> valid = names_in(corpus.valid);
  size_t unseen = 0;
  for (const std::string& name : names_in(corpus.test)) {
    unseen += !train.contains(name);
    EXPECT_TRUE(train.contains(name) || !valid.contains(name)) << name;
  }
  EXPECT_GT(unseen, 500u);
}

/// The first eight words, and the headline that is right most often, are nothing near it.
TEST(BuiltinHeadlines, CannotBeGuessed) {
  size_t first_words = 0;
  std::map<std::string, int> counts;
  for (const Example& example : corpus_of("headlines").train) {
    first_words += example.source.starts_with(example.target);
    ++counts[example.target];
  }
  EXPECT_LT(first_words, 2000u);
  for (const auto& [headline, count] : counts) EXPECT_LT(count, 50) << headline;
}

TEST(InventedNames, BelongToOnePart) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(split_of(invented_name(random, Split::kTest, kPlaceNames), 0.1, 0.1), Split::kTest);
  }
  EXPECT_TRUE(look_alike("Dorilen", "Dorana"));
  EXPECT_TRUE(look_alike("Dorilen", "Velalen"));
  EXPECT_FALSE(look_alike("Dorilen", "Velana"));
}

}  // namespace
}  // namespace attend::data
