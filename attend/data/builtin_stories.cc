// Small stories and questions about them. People go from place to place, take things and give them to each other, and
// have numbers of fruit; a question asks for one word of the story:
//
//   where     "Where is Dorilen?"                       the last place that Dorilen went to
//   before    "Where was Dorilen before the kitchen?"   the place that Dorilen went to before that one
//   after     "Where did Dorilen go after the kitchen?" the place that Dorilen went to after that one
//   who       "Who has the lamp?"                       who took the lamp, or was given it, last
//   how_many  "How many plums does Dorilen have?"       the number that the story says
//
// Nobody goes to a place twice, so that "before the kitchen" is one place. The people of held-out stories never occur
// in training: an answer is found by reading, and the name of a person who has the lamp must be taken from the story.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "attend/data/builtin_invented.h"

namespace attend::data {
namespace {

constexpr size_t kStoriesTrain = 10000;

constexpr std::string_view kStoryPlaces[] = {"kitchen", "garden", "library", "station", "harbour", "market", "cellar",
                                             "office",  "school", "forest",  "museum",  "bakery",  "stable", "chapel"};
constexpr std::string_view kStoryThings[] = {"lamp",   "key",    "letter", "basket", "hammer", "ticket", "umbrella",
                                        "violin", "camera", "map",    "book",   "knife",  "coat",   "bottle"};
constexpr std::string_view kStoryFruit[] = {"apples", "plums",    "pears",  "lemons",
                                            "figs",   "cherries", "melons", "grapes"};
constexpr std::string_view kAmounts[] = {"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};

constexpr std::string_view kGoes[] = {"went to", "walked to", "moved to", "ran to"};
constexpr std::string_view kTakes[] = {"took", "found", "picked up"};
constexpr std::string_view kGives[] = {"gave", "handed"};
constexpr std::string_view kOwns[] = {"has", "bought", "carries"};
constexpr std::string_view kStoryOpenings[] = {"Then ", "Later ", "After that "};

// %P a person, %L a place, %T a thing, %F fruit.
constexpr std::string_view kWhereQuestions[] = {"Where is %P?", "Where is %P now?"};
constexpr std::string_view kBeforeQuestions[] = {"Where was %P before the %L?", "Before the %L, where was %P?"};
constexpr std::string_view kAfterQuestions[] = {"Where did %P go after the %L?", "After the %L, where did %P go?"};
constexpr std::string_view kWhoQuestions[] = {"Who has the %T?", "Who has the %T now?"};
constexpr std::string_view kHowManyQuestions[] = {"How many %F does %P have?"};

/// A word of the story that a question may ask for.
struct Said {
  std::string word;
  TextRange place;
  int32_t sentence = 0;
};

struct StoryQuestion {
  std::string_view kind;
  std::string text;
  Said answer;
  std::vector<int32_t> support;
};

class Story {
 public:
  Story(Random& random, Split part) : random_(random) {
    const size_t count = 2 + random_.below(3);
    while (people_.size() < count) {
      std::string name = invented_name(random_, part, kPeopleNames);
      const bool clear = std::ranges::none_of(people_, [&](const auto& other) { return look_alike(name, other); });
      if (clear) people_.push_back(std::move(name));
    }
  }

  /// Nothing if it leaves no question of that kind.
  std::optional<Example> draw(std::string_view kind) {
    for (uint64_t count = 4 + random_.below(7); count > 0; --count) tell();
    std::vector<StoryQuestion> all = questions();
    std::erase_if(all, [&](const StoryQuestion& one) { return one.kind != kind; });
    if (all.empty()) return {};
    const StoryQuestion& asked = one_of(random_, all);
    return Example{.source = text_,
                   .target = asked.answer.word,
                   .further = {asked.text},
                   .found = {asked.answer.place},
                   .support = asked.support,
                   .group = std::string(kind)};
  }

 private:
  /// One more sentence.
  void tell() {
    if (!text_.empty()) text_ += ' ';
    if (sentence_ > 0 && chance(random_, 0.2)) text_ += one_of(random_, kStoryOpenings);
    const std::string& person = one_of(random_, people_);
    const double what = random_.uniform53();
    if (what < 0.25) {
      handle(person);
    } else if (what < 0.5 && kinds_of_fruit(person) + 2 <= std::size(kStoryFruit)) {
      own(person);
    } else {
      go(person);
    }
    text_ += '.';
    ++sentence_;
  }

  void go(const std::string& person) {
    std::vector<Said>& path = paths_[person];
    std::string_view place;
    do {
      place = one_of(random_, kStoryPlaces);
    } while (std::ranges::any_of(path, [&](const Said& one) { return one.word == place; }));
    say(person), say(" "), say(one_of(random_, kGoes)), say(" the ");
    path.push_back(say(place));
  }

  /// Gives a thing to somebody who has not got it, or takes one that nobody has.
  void handle(const std::string& person) {
    std::vector<std::string> own;
    for (const auto& [thing, owner] : owners_) {
      if (owner.word == person) own.push_back(thing);
    }
    if (!own.empty() && chance(random_, 0.6)) {
      const std::string& thing = one_of(random_, own);
      say(person), say(" "), say(one_of(random_, kGives)), say(" the "), say(thing), say(" to ");
      std::string other;
      do {
        other = one_of(random_, people_);
      } while (other == person);
      owners_[thing] = say(other);
      return;
    }
    std::string thing;
    do {
      thing = one_of(random_, kStoryThings);
    } while (owners_.contains(thing));
    const Said owner = say(person);
    say(" "), say(one_of(random_, kTakes)), say(" the "), say(thing);
    owners_[thing] = owner;
  }

  /// One or two kinds of fruit, each of which nobody gets twice.
  void own(const std::string& person) {
    say(person), say(" "), say(one_of(random_, kOwns)), say(" ");
    add_fruit(person);
    if (chance(random_, 0.3)) say(" and "), add_fruit(person);
  }

  size_t kinds_of_fruit(const std::string& person) const {
    const auto has = [&](const auto& one) { return one.first.first == person; };
    return static_cast<size_t>(std::ranges::count_if(amounts_, has));
  }

  void add_fruit(const std::string& person) {
    std::string fruit;
    do {
      fruit = one_of(random_, kStoryFruit);
    } while (amounts_.contains({person, fruit}));
    amounts_[{person, fruit}] = say(one_of(random_, kAmounts));
    say(" "), say(fruit);
  }

  Said say(std::string_view words) {
    const auto begin = static_cast<int64_t>(text_.size());
    text_ += words;
    return {std::string(words), {begin, static_cast<int64_t>(text_.size())}, sentence_};
  }

  std::vector<StoryQuestion> questions() {
    std::vector<StoryQuestion> all;
    for (const auto& [person, path] : paths_) {
      if (path.empty()) continue;
      all.push_back({"where", filled(kWhereQuestions, {{'P', person}}), path.back(), {path.back().sentence}});
      for (size_t i = 1; i < path.size(); ++i) {
        const Said &from = path[i - 1], &to = path[i];
        const std::vector<int32_t> both = {from.sentence, to.sentence};
        all.push_back({"before", filled(kBeforeQuestions, {{'P', person}, {'L', to.word}}), from, both});
        all.push_back({"after", filled(kAfterQuestions, {{'P', person}, {'L', from.word}}), to, both});
      }
    }
    for (const auto& [thing, owner] : owners_) {
      all.push_back({"who", filled(kWhoQuestions, {{'T', thing}}), owner, {owner.sentence}});
    }
    for (const auto& [of, amount] : amounts_) {
      const std::string text = filled(kHowManyQuestions, {{'P', of.first}, {'F', of.second}});
      all.push_back({"how_many", text, amount, {amount.sentence}});
    }
    return all;
  }

  std::string filled(std::span<const std::string_view> forms, const std::map<char, std::string>& words) {
    std::string text;
    const std::string_view form = one_of(random_, forms);
    for (size_t i = 0; i < form.size(); ++i) {
      if (form[i] == '%') {
        text += words.at(form[++i]);
      } else {
        text += form[i];
      }
    }
    return text;
  }

  Random& random_;
  std::vector<std::string> people_;
  std::string text_;
  int32_t sentence_ = 0;
  std::map<std::string, std::vector<Said>> paths_;               // by person: the places, in order
  std::map<std::string, Said> owners_;                           // by thing
  std::map<std::pair<std::string, std::string>, Said> amounts_;  // by person and fruit
};

constexpr std::string_view kStoryKinds[] = {"where", "before", "after", "who", "how_many"};

}  // namespace

BuiltinCorpus make_stories(uint64_t seed) {
  return corpus_with_unseen_names("stories", seed, kStoriesTrain, [](Random& random, Split part) {
    const std::string_view kind = one_of(random, kStoryKinds);
    for (;;) {
      if (std::optional<Example> example = Story(random, part).draw(kind)) return *example;
    }
  });
}

}  // namespace attend::data
