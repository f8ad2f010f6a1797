// The built-in corpora of the tasks that label, tag, parse and pronounce.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "attend/data/builtin.h"
#include "attend/data/english_forms.h"
#include "attend/data/tree.h"
#include "tests/data/corpus.h"
#include "tests/support/message.h"
#include "tests/support/text.h"

namespace attend::data {
namespace {

using test::all_of;
using test::corpus_of;
using test::has;
using test::joined;
using test::words_of;

using Words = std::vector<std::string>;

/// The words that a label follows from.
Words evidence_of(const Example& example) {
  const Words words = words_of(example.source);
  Words evidence;
  for (const Link& link : example.links) evidence.push_back(words.at(static_cast<size_t>(link.source)));
  return evidence;
}

TEST(BuiltinFeelings, AreOfThreeKindsInEqualShares) {
  std::map<std::string, int> counts;
  for (const Example* example : all_of(corpus_of("feelings"))) {
    ++counts[example->target];
    EXPECT_LE(words_of(example->source).size(), 60u);
    EXPECT_FALSE(example->links.empty()) << example->source;
    EXPECT_TRUE(std::is_sorted(example->links.begin(), example->links.end()));
    for (const Link& link : example->links) EXPECT_EQ(link.target, 0);
  }
  ASSERT_EQ(counts.size(), 3u);
  for (const char* label : {"positive", "negative", "mixed"}) EXPECT_NEAR(counts[label], 7166, 400) << label;
}

// Reviews with the same words to judge by have the same label, whatever stands around; and a negation in front of the same
// words gives the other one.
TEST(BuiltinFeelings, FollowFromTheirEvidence) {
  std::map<std::string, std::string> labels;
  for (const Example* example : all_of(corpus_of("feelings"))) {
    const std::string evidence = joined(evidence_of(*example));
    EXPECT_EQ(labels.try_emplace(evidence, example->target).first->second, example->target) << example->source;
  }
  EXPECT_EQ(labels.at("beer cold"), "positive");
  EXPECT_EQ(labels.at("soup cold"), "negative");
  EXPECT_EQ(labels.at("excellent"), "positive");
  EXPECT_EQ(labels.at("loathed"), "negative");
  const std::set<std::string> nouns = {"beer", "soup", "menu", "wait", "bill", "room", "bed", "hall", "coffee"};
  size_t turned = 0;
  for (const auto& [evidence, label] : labels) {
    const Words words = words_of(evidence);
    const bool with_noun = words.size() == 2 && nouns.contains(words[0]);
    if (words.size() > 1 && !with_noun) continue;  // two judgements
    for (const char* negation : {"not", "never", "hardly", "not at all", "far from", "anything but"}) {
      const std::string negated = (with_noun ? words[0] + " " : "") + negation + " " + words.back();
      const auto found = labels.find(negated);
      if (found == labels.end()) continue;
      EXPECT_EQ(found->second, label == "positive" ? "negative" : "positive") << negated;
      ++turned;
    }
  }
  EXPECT_GT(turned, 100u);
}

TEST(BuiltinFeelings, AreNotGivenAwayBySingleWords) {
  std::map<std::string, std::set<std::string>> labels;
  for (const Example& example : corpus_of("feelings").train)
    for (const std::string& word : words_of(example.source)) labels[word].insert(example.target);
  for (const char* word : {"but", "not", "good", "bad", "cold", "long", "never"})
    EXPECT_EQ(labels[word].size(), 3u) << word;
}

TEST(BuiltinTags, AreOnePerWord) {
  std::map<std::string, std::set<std::string>> tags;
  for (const char* name : {"tags", "names"}) {
    for (const Example* example : all_of(corpus_of(name))) {
      const Words words = words_of(example->source), marks = words_of(example->target);
      ASSERT_EQ(words.size(), marks.size()) << example->source;
      if (std::string_view(name) == "names") continue;
      for (size_t i = 0; i < words.size(); ++i) tags[words[i]].insert(marks[i]);
    }
  }
  using Tags = std::set<std::string>;
  EXPECT_EQ(tags["can"], (Tags{"MD", "NN"}));
  EXPECT_EQ(tags["saw"], (Tags{"NN", "VBD"}));
  EXPECT_EQ(tags["light"], (Tags{"JJ", "NN", "VB"}));
  EXPECT_EQ(tags["that"], (Tags{"DT", "IN", "WDT"}));
  EXPECT_EQ(tags["her"], (Tags{"PRP", "PRP$"}));
  EXPECT_EQ(tags["like"], (Tags{"IN", "VB"}));
  EXPECT_EQ(tags["plays"], (Tags{"NNS", "VBZ"}));
  EXPECT_EQ(tags["chased"], (Tags{"VBD", "VBN"}));
  EXPECT_EQ(tags["the"], Tags{"DT"});
}

std::set<std::string> words_in_training(std::string_view name) {
  std::set<std::string> known;
  for (const Example& example : corpus_of(name).train)
    for (const std::string& word : words_of(example.source)) known.insert(word);
  return known;
}

std::set<std::string> unseen_words(std::string_view name, const std::set<std::string>& known) {
  std::set<std::string> unseen;
  for (const Example& example : corpus_of(name).test)
    for (const std::string& word : words_of(example.source))
      if (!known.contains(word)) unseen.insert(word);
  return unseen;
}

TEST(BuiltinTags, HoldOutFormsOfWordsThatAreKnown) {
  const std::set<std::string> known = words_in_training("tags"), unseen = unseen_words("tags", known);
  EXPECT_GT(unseen.size(), 30u);
  for (const std::string& word : unseen) {
    const bool inflected = std::any_of(known.begin(), known.end(), [&](const std::string& stem) {
      const Words forms = {with_s(stem), with_ed(stem), with_ing(stem), with_er(stem), with_est(stem), with_ly(stem)};
      return std::find(forms.begin(), forms.end(), word) != forms.end();
    });
    EXPECT_TRUE(inflected) << word;
  }
}

TEST(BuiltinTags, InflectAsEnglishDoes) {
  EXPECT_EQ(with_s("dog") + with_s("box") + with_s("church") + with_s("lady") + with_s("key"),
            "dogsboxeschurchesladieskeys");
  EXPECT_EQ(with_ed("walk") + with_ed("dance") + with_ed("carry") + with_ed("hop") + with_ed("open") + with_ed("play"),
            "walkeddancedcarriedhoppedopenedplayed");
  EXPECT_EQ(with_ing("walk") + with_ing("dance") + with_ing("carry") + with_ing("hop") + with_ing("see"),
            "walkingdancingcarryinghoppingseeing");
  EXPECT_EQ(with_er("brave") + with_er("happy") + with_er("big") + with_er("slow") + with_est("quiet"),
            "braverhappierbiggerslowerquietest");
  EXPECT_EQ(with_ly("quick") + with_ly("happy") + with_ly("gentle") + with_ly("full"), "quicklyhappilygentlyfully");
}

TEST(BuiltinNames, HaveWellFormedSpans) {
  std::map<std::string, int> starts;
  for (const Example* example : all_of(corpus_of("names"))) {
    std::string before = "O";
    for (const std::string& mark : words_of(example->target)) {
      if (mark.starts_with("B-")) ++starts[mark.substr(2)];
      const bool follows = before == mark || before == "B-" + mark.substr(mark.find('-') + 1);
      EXPECT_TRUE(follows || !mark.starts_with("I-")) << example->target;
      before = mark;
    }
  }
  ASSERT_EQ(starts.size(), 3u);
  for (const auto& [type, count] : starts) EXPECT_GT(count, 8000) << type;
}

// A name that is not known consists of parts that are: its beginning and its ending both occur with others.
TEST(BuiltinNames, HoldOutNamesOfKnownParts) {
  const std::set<std::string> known = words_in_training("names"), unseen = unseen_words("names", known);
  EXPECT_GT(unseen.size(), 50u);
  for (const std::string& name : unseen) {
    bool parted = false;
    for (size_t cut = 2; cut < name.size(); ++cut) {
      const auto some = [&](auto fits) { return std::any_of(known.begin(), known.end(), fits); };
      parted = parted || (some([&](const std::string& word) { return word.starts_with(name.substr(0, cut)); }) &&
                          some([&](const std::string& word) { return word.ends_with(name.substr(cut)); }));
    }
    EXPECT_TRUE(parted) << name;
  }
}

// The same name may be of any kind.
TEST(BuiltinNames, NeedTheWordsAround) {
  std::map<std::string, std::set<std::string>> tags;
  for (const Example& example : corpus_of("names").train) {
    const Words words = words_of(example.source), marks = words_of(example.target);
    for (size_t i = 0; i < words.size(); ++i) tags[words[i]].insert(marks[i]);
  }
  size_t several = 0;
  for (const auto& [word, marks] : tags) several += marks.size() > 2;
  EXPECT_GT(several, 100u);
  using Tags = std::set<std::string>;
  EXPECT_EQ(tags["Motors"], Tags{"I-ORG"});
  EXPECT_EQ(tags["Bank"], Tags{"B-ORG"});
  EXPECT_EQ(tags["Isle"], Tags{"B-LOC"});
  EXPECT_EQ(tags["Lake"], (Tags{"B-LOC", "B-ORG"}));
  EXPECT_EQ(tags["Mary"], (Tags{"B-PER", "B-ORG"}));
  for (const char* word : {"Mr", "Dr", "Monday", "May", "Shares", "The", "."}) EXPECT_EQ(tags[word], Tags{"O"}) << word;
}

TEST(BuiltinTrees, AreTreesOfTheirSentences) {
  size_t deepest = 0;
  for (const Example* example : all_of(corpus_of("trees"))) {
    const Tree tree = parse_tree(example->target, example->target);
    EXPECT_EQ(print_tree(tree), example->target);
    EXPECT_EQ(joined(data::words_of(tree)), example->source);
    EXPECT_EQ(normalised("tree", tree), tree) << example->target;
    EXPECT_EQ(tree_of(tree_tokens(tree), data::words_of(tree)), tree);
    EXPECT_LE(words_of(example->source).size(), 24u);
    deepest = std::max(deepest, example->target.size());
  }
  EXPECT_GT(deepest, 200u);
}

// Where a phrase with "with" belongs is for the words to say.
TEST(BuiltinTrees, AttachPhrasesByTheirWords) {
  size_t tools = 0, parts = 0;
  for (const Example* example : all_of(corpus_of("trees"))) {
    const std::string& tree = example->target;
    if (has(example->source, "cut the rope with the knife")) {
      EXPECT_TRUE(has(tree, "(VP (VBD cut) (NP (DT the) (NN rope)) (PP (IN with) (NP (DT the) (NN knife)))")) << tree;
      ++tools;
    }
    if (has(example->source, "cut the rope with the hook")) {
      EXPECT_TRUE(has(tree, "(VP (VBD cut) (NP (NP (DT the) (NN rope)) (PP (IN with) (NP (DT the) (NN hook))))"))
          << tree;
      ++parts;
    }
    if (has(example->source, "caught the ball with the hook")) {
      EXPECT_TRUE(has(tree, "(VP (VBD caught) (NP (DT the) (NN ball)) (PP (IN with) (NP (DT the) (NN hook)))")) << tree;
      ++tools;
    }
  }
  EXPECT_GT(tools, 5u);
  EXPECT_GT(parts, 3u);
}

TEST(BuiltinTrees, HaveTheConstructionsThatTheyPromise) {
  std::map<std::string_view, int> counts;
  for (const Example& example : corpus_of("trees").train) {
    for (const char* part : {"(SBAR (WHNP (WDT that)) (S (VP", "(SBAR (WHNP (WDT that)) (S (NP", "(SBAR (IN that)",
                             ") (CC and) (NP", ") (CC and) (VP", "(, ,) (CC and) (S", "(IN of)"})
      counts[part] += has(example.target, part);
  }
  ASSERT_EQ(counts.size(), 7u);
  for (const auto& [part, count] : counts) EXPECT_GT(count, 400) << part;
}

struct Spoken {
  const char *spelling, *phonemes;
};

// By the rules, applied by hand.
constexpr Spoken kSpoken[] = {
    {"cat", "K AE1 T"},
    {"cate", "K EY1 T"},
    {"catte", "K AE1 T"},
    {"cent", "S EH1 N T"},
    {"gem", "JH EH1 M"},
    {"gum", "G AH1 M"},
    {"ace", "EY1 S"},
    {"age", "EY1 JH"},
    {"ship", "SH IH1 P"},
    {"light", "L AY1 T"},
    {"boat", "B OW1 T"},
    {"phone", "F OW1 N"},
    {"knock", "N AA1 K"},
    {"wrist", "R IH1 S T"},
    {"lamb", "L AE1 M"},
    {"bank", "B AE1 NG K"},
    {"sing", "S IH1 NG"},
    {"finger", "F IH1 NG G ER0"},
    {"quick", "K W IH1 K"},
    {"xeno", "Z AH0 N OW1"},
    {"box", "B AA1 K S"},
    {"fuses", "F AH1 Z AH0 S"},
    {"fuse", "F UW1 Z"},
    {"hens", "HH EH1 N Z"},
    {"cats", "K AE1 T S"},
    {"star", "S T AA1 R"},
    {"story", "S T AA1 R IY0"},
    {"stir", "S T ER1"},
    {"merry", "M EH1 R IY0"},
    {"happy", "HH AE1 P IY0"},
    {"my", "M AY1"},
    {"yes", "Y EH1 S"},
    {"myth", "M IH1 TH"},
    {"table", "T AE1 B AH0 L"},
    {"saddle", "S AE1 D AH0 L"},
    {"tale", "T EY1 L"},
    {"panda", "P AE1 N D AH0"},
    {"banana", "B AE1 N AH0 N AH0"},
    {"bonanda", "B AH0 N AE1 N D AH0"},
    {"rabbit", "R AE1 B IH0 T"},
    {"accent", "AE1 K S AH0 N T"},
    {"soccat", "S AA1 K AH0 T"},
    {"match", "M AE1 CH"},
    {"doggy", "D AA1 G IY0"},
    {"boil", "B OY1 L"},
    {"sauce", "S AO1 S"},
    {"new", "N UW1"},
    {"mirmid", "M ER1 M IH0 D"},
    {"balloon", "B AH0 L UW1 N"},
    {"sister", "S IH1 S T ER0"},
    {"lullaby", "L AH1 L AH0 B IY0"},
};

TEST(BuiltinLetters, SayWhatTheRulesSay) {
  for (const Spoken& spoken : kSpoken)
    EXPECT_EQ(letter_pronunciations(spoken.spelling), Words{spoken.phonemes}) << spoken.spelling;
  EXPECT_EQ(letter_pronunciations("window"), (Words{"W IH0 N D OW1", "W IH0 N D AW1"}));
  EXPECT_EQ(letter_pronunciations("town"), Words{"T AW1 N"});
  EXPECT_EQ(test::message_of([] { letter_pronunciations("naïve"); }),
            "letters: expected a word of the letters a to z, got \"naïve\"");
  EXPECT_EQ(test::message_of([] { letter_pronunciations(""); }), "letters: expected a word, got none");
}

TEST(BuiltinLetters, HaveOneStressAndTheirPronunciations) {
  size_t several = 0;
  for (const Example* example : all_of(corpus_of("letters"))) {
    Words said = {example->target};
    said.insert(said.end(), example->also.begin(), example->also.end());
    EXPECT_EQ(said, letter_pronunciations(example->source));
    EXPECT_EQ(std::count(example->target.begin(), example->target.end(), '1'), 1) << example->source;
    several += said.size() > 1;
  }
  EXPECT_GT(several, 100u);
}

}  // namespace
}  // namespace attend::data
