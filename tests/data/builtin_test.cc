#include "attend/data/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "attend/base/error.h"
#include "attend/data/tree.h"
#include "tests/data/corpus.h"
#include "tests/support/text.h"

namespace attend::data {
namespace {

using test::all_of;
using test::corpus_of;
using test::words_of;

/// All of each example, line by line.
std::string printed(const BuiltinCorpus& corpus) {
  std::string text;
  for (const Example* example : all_of(corpus)) {
    text += example->source + '\t' + example->target + '\t' + print_links(example->links);
    for (const std::string& other : example->also) text += '\t' + other;
    for (const std::string& other : example->further) text += '\t' + other;
    text += '\n';
  }
  return text;
}

/// What a network would read or write, token by token.
std::vector<std::string> tokens_of(std::string_view unit, const std::string& text) {
  if (unit == "words" && text.starts_with('(')) return tree_tokens(parse_tree(text, text));
  if (unit == "words") return words_of(text);
  if (unit == "punctuated") return words_of(std::regex_replace(text, std::regex("([.,?])"), " $1"));
  std::vector<std::string> letters;
  for (const char letter : text) letters.emplace_back(1, letter);
  return letters;
}

/// The share of what a corpus holds out that has words which training has not.
double unseen_share(std::string_view name) {
  return name == "tags" || name == "names" ? 0.5 : name == "stories" || name == "headlines" ? 1 : 0;
}

size_t examples_to_train_on(std::string_view name) {
  const std::map<std::string_view, size_t> others{{"hindi", 30000},  {"chains", 15000},  {"stories", 10000},
                                                  {"courses", 4000}, {"recall", 12000},  {"english", 30000},
                                                  {"lookup", 15000}, {"lookback", 15000}};
  return others.contains(name) ? others.at(name) : 20000;
}

TEST(Builtin, KnowsItsCorporaByName) {
  ASSERT_EQ(builtin_corpora().size(), 17u);
  for (const BuiltinRow& row : builtin_corpora()) {
    EXPECT_FALSE(row.summary.empty());
    EXPECT_TRUE(row.unit == "words" || row.unit == "characters" || row.unit == "punctuated") << row.name;
    EXPECT_TRUE(row.target_unit == "words" || row.target_unit == "characters") << row.name;
  }
  try {
    make_builtin("hindy", 1);
    FAIL() << "an unknown name was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the nearest is \"hindi\""), std::string::npos) << error.what();
  }
}

TEST(Builtin, IsAFunctionOfTheSeed) {
  for (const BuiltinRow& row : builtin_corpora()) {
    const std::string first = printed(corpus_of(row.name));
    EXPECT_EQ(first, printed(row.make(1))) << row.name;
    EXPECT_NE(first, printed(corpus_of(row.name, 2))) << row.name;
  }
}

TEST(Builtin, HasTheStatedSizesAndDistinctSources) {
  for (const BuiltinRow& row : builtin_corpora()) {
    const BuiltinCorpus& corpus = corpus_of(row.name);
    EXPECT_EQ(corpus.train.size(), examples_to_train_on(row.name)) << row.name;
    EXPECT_EQ(corpus.valid.size(), 500u);
    EXPECT_EQ(corpus.test.size(), 1000u);
    std::set<std::string> sources;
    for (const Example* example : all_of(corpus))
      EXPECT_TRUE(sources.insert(example->source).second) << row.name << " repeats " << example->source;
  }
}

TEST(Builtin, HoldsOutNoUnseenWordOrCharacter) {
  for (const BuiltinRow& row : builtin_corpora()) {
    const BuiltinCorpus& corpus = corpus_of(row.name);
    std::set<std::string> source, target;
    for (const Example& example : corpus.train) {
      for (const std::string& unit : tokens_of(row.unit, example.source)) source.insert(unit);
      for (const std::string& unit : tokens_of(row.target_unit, example.target)) target.insert(unit);
    }
    for (const auto* part : {&corpus.valid, &corpus.test}) {
      size_t unseen = 0;
      for (const Example& example : *part) {
        bool known = true;
        for (const std::string& unit : tokens_of(row.unit, example.source)) known = known && source.contains(unit);
        unseen += !known;
        for (const std::string& unit : tokens_of(row.target_unit, example.target))
          EXPECT_TRUE(target.contains(unit) || unseen_share(row.name) == 1) << unit;
      }
      EXPECT_EQ(static_cast<double>(unseen), unseen_share(row.name) * static_cast<double>(part->size())) << row.name;
    }
  }
}

// Other seeds make other sentences, and all of them must agree.
TEST(Builtin, GivesASourceOneTarget) {
  for (const BuiltinRow& row : builtin_corpora()) {
    std::map<std::string, std::string> known;
    for (const uint64_t seed : {1, 2}) {
      for (const Example* example : all_of(corpus_of(row.name, seed))) {
        const std::string said = example->target + " | " + print_links(example->links);
        EXPECT_EQ(known.try_emplace(example->source, said).first->second, said) << example->source;
      }
    }
  }
}

TEST(BuiltinReverse, IsReversed) {
  const BuiltinCorpus& corpus = corpus_of("reverse");
  std::set<size_t> lengths;
  for (const Example* example : all_of(corpus)) {
    EXPECT_EQ(example->target, std::string(example->source.rbegin(), example->source.rend()));
    EXPECT_TRUE(
        std::all_of(example->source.begin(), example->source.end(), [](char c) { return c >= 'a' && c <= 'z'; }));
    lengths.insert(example->source.size());
  }
  EXPECT_EQ(lengths, (std::set<size_t>{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

constexpr const char* kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr const char* kWeekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

/// The index of the name that the word begins with, −1 if there is none.
template <size_t count>
int named(const std::string& word, const char* const (&names)[count]) {
  const auto found =
      std::find_if(std::begin(names), std::end(names), [&](const char* name) { return word.starts_with(name); });
  return found == std::end(names) ? -1 : static_cast<int>(found - std::begin(names));
}

struct Reading {
  int year = 0, month = 0, day = 0, weekday = -1;
};

/// Reads a date as a person would, whatever its format: names are names, four digits are a year.
Reading read_date(const std::string& source) {
  std::string spaced = source;
  const bool year_first = spaced.find('/') != std::string::npos;
  std::replace_if(
      spaced.begin(), spaced.end(), [](char c) { return std::string_view(",./-").find(c) != std::string_view::npos; },
      ' ');
  Reading reading;
  std::vector<int> small;
  for (const std::string& word : words_of(spaced)) {
    const bool digits = std::isdigit(static_cast<unsigned char>(word[0]));
    if (digits && std::stoi(word) > 999) reading.year = std::stoi(word);
    if (digits && std::stoi(word) <= 999) small.push_back(std::stoi(word));
    if (named(word, kMonths) >= 0 && word != "monday" && word != "mon") reading.month = named(word, kMonths) + 1;
    if (named(word, kWeekdays) >= 0) reading.weekday = named(word, kWeekdays);
  }
  reading.day = small.at(year_first ? 1 : 0);
  if (small.size() == 2) reading.month = small[year_first ? 0 : 1];
  return reading;
}

TEST(BuiltinDates, SayWhatTheCalendarSays) {
  const BuiltinCorpus& corpus = corpus_of("dates");
  size_t weekdays = 0;
  for (const Example* example : all_of(corpus)) {
    const Reading reading = read_date(example->source);
    const std::chrono::year_month_day date{std::chrono::year(reading.year), std::chrono::month(reading.month),
                                           std::chrono::day(reading.day)};
    ASSERT_TRUE(date.ok()) << example->source;
    char iso[40];
    std::snprintf(iso, sizeof iso, "%04d-%02d-%02d", reading.year, reading.month, reading.day);
    EXPECT_EQ(example->target, iso) << example->source;
    if (reading.weekday < 0) continue;
    ++weekdays;
    EXPECT_EQ(std::chrono::weekday(std::chrono::sys_days(date)).c_encoding(), static_cast<unsigned>(reading.weekday))
        << example->source;
  }
  EXPECT_GT(weekdays, 5000u);
}

TEST(BuiltinDates, WritesOrdinalsAsPeopleDo) {
  const std::map<int, std::string> odd = {{1, "st"},  {2, "nd"},  {3, "rd"}, {21, "st"},
                                          {22, "nd"}, {23, "rd"}, {31, "st"}};
  size_t ordinals = 0;
  for (const Example& example : corpus_of("dates").train) {
    for (const std::string& word : words_of(example.source)) {
      size_t digits = 0;
      const int day = std::isdigit(static_cast<unsigned char>(word[0])) ? std::stoi(word, &digits) : 0;
      const std::string ending = word.substr(digits, 2);
      if (day == 0 || ending.size() < 2 || !std::isalpha(static_cast<unsigned char>(ending[0]))) continue;
      EXPECT_EQ(ending, odd.contains(day) ? odd.at(day) : "th") << example.source;
      ++ordinals;
    }
  }
  EXPECT_GT(ordinals, 3000u);
}

TEST(BuiltinHindi, LinksWordsThatAreThere) {
  const BuiltinCorpus& corpus = corpus_of("hindi");
  for (const Example* example : all_of(corpus)) {
    const size_t english = words_of(example->source).size(), hindi = words_of(example->target).size();
    EXPECT_TRUE(english >= 2 && english <= 14 && hindi >= 2 && hindi <= 14) << example->source;
    EXPECT_FALSE(example->links.empty()) << example->source;
    EXPECT_TRUE(std::is_sorted(example->links.begin(), example->links.end()));
    for (const Link& link : example->links)
      EXPECT_TRUE(link.source >= 0 && link.target >= 0 && link.source < static_cast<int>(english) &&
                  link.target < static_cast<int>(hindi))
          << example->source;
  }
}

// What may stay without a link on either side is a short list.
TEST(BuiltinHindi, LeavesOnlySmallWordsUnlinked) {
  const std::set<std::string> small = {"the", "a", "an", "to", "in", "ne", "ko", "se", "kya"};
  for (const Example& example : corpus_of("hindi").test) {
    const auto english = words_of(example.source), hindi = words_of(example.target);
    for (size_t i = 0; i < english.size(); ++i) {
      const bool linked = std::any_of(example.links.begin(), example.links.end(),
                                      [&](const Link& link) { return link.source == static_cast<int>(i); });
      EXPECT_TRUE(linked || small.contains(english[i])) << english[i] << " in " << example.source;
    }
    for (size_t j = 0; j < hindi.size(); ++j) {
      const bool linked = std::any_of(example.links.begin(), example.links.end(),
                                      [&](const Link& link) { return link.target == static_cast<int>(j); });
      EXPECT_TRUE(linked || small.contains(hindi[j])) << hindi[j] << " in " << example.target;
    }
  }
}

TEST(BuiltinHindi, SaysEveryWordOftenEnough) {
  std::map<std::string, int> english, hindi;
  for (const Example& example : corpus_of("hindi").train) {
    for (const std::string& word : words_of(example.source)) ++english[word];
    for (const std::string& word : words_of(example.target)) ++hindi[word];
  }
  EXPECT_LT(english.size(), 300u);
  EXPECT_LT(hindi.size(), 420u);
  for (const auto* counts : {&english, &hindi})
    for (const auto& [word, count] : *counts) EXPECT_GE(count, 5) << word;
}

struct Known {
  const char *english, *hindi, *links;
};

// Checked by hand, over all constructions.
constexpr Known kKnown[] = {
    {"i am going home", "main ghar ja rahi hoon", "0-0 1-4 2-2 2-3 3-1"},
    {"i love you", "main tumse pyaar karti hoon", "0-0 1-2 1-3 1-4 2-1"},
    {"are you going home", "kya tum ghar ja rahe ho", "0-5 1-1 2-3 2-4 3-2"},
    {"my father was not going to the temple", "mere pitaji mandir nahin ja rahe the", "0-0 1-1 2-6 3-3 4-4 4-5 7-2"},
    {"this is a big dog", "yeh ek bada kutta hai", "0-0 1-4 2-1 3-2 4-3"},
    {"these are our old books", "ye humari purani kitaaben hain", "0-0 1-4 2-1 3-2 4-3"},
    {"is that your house", "kya woh tumhara ghar hai", "0-4 1-1 2-2 3-3"},
    {"she is a good doctor", "woh achchhi doctor hai", "0-0 1-3 3-1 4-2"},
    {"you are my friend", "tum mere dost ho", "0-0 1-3 2-1 3-2"},
    {"they are doctors", "ve doctor hain", "0-0 1-2 2-1"},
    {"the girls ate three bananas", "ladkiyon ne teen kele khaye", "1-0 2-4 3-2 4-3"},
    {"he ate bread", "usne roti khayi", "0-0 1-2 2-1"},
    {"the boy ate an egg yesterday evening", "ladke ne kal shaam ek anda khaya", "1-0 2-6 3-4 4-5 5-2 6-3"},
    {"i did not drink the tea", "maine chai nahin pee", "0-0 1-3 2-2 3-3 5-1"},
    {"who ate my bread", "meri roti kisne khayi", "0-2 1-3 2-0 3-1"},
    {"ram is reading his book", "ram apni kitaab padh raha hai", "0-0 1-5 2-3 2-4 3-1 4-2"},
    {"sita is reading his book", "sita uski kitaab padh rahi hai", "0-0 1-5 2-3 2-4 3-1 4-2"},
    {"what did you eat", "tumne kya khaya", "0-1 1-2 2-0 3-2"},
    {"the tea is hot", "chai garam hai", "1-0 2-2 3-1"},
    {"our houses were not big", "humare ghar bade nahin the", "0-0 1-1 2-4 3-3 4-2"},
    {"my mother will be at home tomorrow", "meri maa kal ghar par hongi", "0-0 1-1 2-5 3-5 4-4 5-3 6-2"},
    {"where does your brother live", "tumhara bhai kahan rehta hai", "0-2 1-4 2-0 3-1 4-3"},
    {"where is my bag", "mera thaila kahan hai", "0-2 1-3 2-0 3-1"},
    {"we met the boys in the market", "hum bazaar mein ladkon se mile", "0-0 1-5 3-3 4-2 6-1"},
    {"is the newspaper on the table", "kya akhbaar mez par hai", "0-4 2-1 3-3 5-2"},
    {"who is in the kitchen", "rasoi mein kaun hai", "0-2 1-3 2-1 4-0"},
    {"she talked to me", "usne mujhse baat ki", "0-0 1-2 1-3 2-1 3-1"},
    {"i am talking to my sister", "main apni behen se baat kar rahi hoon", "0-0 1-7 2-4 2-5 2-6 3-3 4-1 5-2"},
    {"has the man gone to mumbai", "kya aadmi mumbai gaya hai", "0-4 2-1 3-3 5-2"},
    {"i have come from delhi", "main dilli se aayi hoon", "0-0 1-4 2-3 3-2 4-1"},
    {"they have seen two houses", "unhone do ghar dekhe hain", "0-0 1-4 2-3 3-1 4-2"},
    {"he saw the big dogs", "usne bade kutton ko dekha", "0-0 1-4 3-1 4-2"},
    {"why did sita not close the doors", "sita ne darwaze kyon band nahin kiye", "0-3 1-6 2-0 3-5 4-4 4-6 6-2"},
    {"she closed the windows", "usne khidkiyan band kin", "0-0 1-2 1-3 3-1"},
    {"the women slept under the tree at night", "auraten raat ko ped ke neeche soyin", "1-0 2-6 3-4 3-5 5-3 6-2 7-1"},
    {"when do the children go to school", "bachche school kab jate hain", "0-2 1-4 3-0 4-3 6-1"},
    {"i do not work every day", "main roz kaam nahin karti hoon", "0-0 1-5 2-3 3-2 3-4 4-1 5-1"},
    {"i will go to the market tomorrow morning", "main kal subah bazaar jaungi", "0-0 1-4 2-4 5-3 6-1 7-2"},
    {"you will buy a red car", "tum ek laal gadi khareedoge", "0-0 1-4 2-4 3-1 4-2 5-3"},
    {"will the girls come home today", "kya ladkiyan aaj ghar aayengi", "0-4 2-1 3-4 4-3 5-2"},
    {"my brothers listen to songs in the evening", "mere bhai shaam ko gane sunte hain", "0-0 1-1 2-5 2-6 4-4 5-3 7-2"},
    {"their mother was making bread in the kitchen", "unki maa rasoi mein roti bana rahi thin",
     "0-0 1-1 2-7 3-5 3-6 4-4 5-3 7-2"},
    {"my brother ate the food", "mere bhai ne khana khaya", "0-0 1-1 2-4 4-3"},
    {"the small boy saw a bird", "chhote ladke ne ek chidiya dekhi", "1-0 2-1 3-5 4-3 5-4"},
    {"the girls have gone", "ladkiyan gayi hain", "1-0 2-2 3-1"},
    {"she has eaten three carrots", "usne teen gajaren khayi hain", "0-0 1-4 2-3 3-1 4-2"},
    {"who is not sleeping in the garden now", "abhi bageeche mein kaun nahin so raha hai",
     "0-3 1-7 2-4 3-5 3-6 4-2 6-1 7-0"},
    {"i will meet two tall girls on monday", "main somvaar ko do lambi ladkiyon se milungi",
     "0-0 1-7 2-7 3-3 4-4 5-5 6-2 7-1"},
    {"mohan watched cricket on sunday", "mohan ne ravivaar ko cricket dekha", "0-0 1-5 2-4 3-3 4-2"},
};

TEST(BuiltinHindi, TranslatesWhatIsKnown) {
  for (const Known& known : kKnown) {
    const std::vector<Example> derived = hindi_derivations(known.english);
    EXPECT_FALSE(derived.empty()) << known.english;
    for (const Example& example : derived) {
      EXPECT_EQ(example.target, known.hindi) << known.english;
      EXPECT_EQ(print_links(example.links), known.links) << known.english;
    }
  }
}

TEST(BuiltinHindi, DoesNotDeriveWhatItCannotSay) {
  for (const char* english : {"", "i", "i am going to", "boy the is going home", "i am seeing the house",
                              "i am going home yesterday", "we lived in delhi", "she is her friend", "we see me"}) {
    EXPECT_TRUE(hindi_derivations(english).empty()) << english;
  }
}

// "read" is also the past of itself: only where the sentence shows which, there is a past.
TEST(BuiltinHindi, TakesNoSentenceOfTwoTenses) {
  for (const Example& example : hindi_derivations("they read the book"))
    EXPECT_EQ(example.target, "ve kitaab padhte hain");
  for (const Example& example : hindi_derivations("he read the book")) EXPECT_EQ(example.target, "usne kitaab padhi");
}

}  // namespace
}  // namespace attend::data
