// Short reviews of meals, films and hotels, and whether they are positive, negative or mixed.
//
// A review's label depends on few of its words: a judgement ("the soup was hot", "we hated the film") has a sign, a
// negation reverses it ("the soup was hardly hot", "we did not hate the film"), and a review whose judgements differ is
// mixed. Single words do not give it away: a cold beer is good and a cold soup is not; "but" and "not" also occur where
// nothing is judged; and what others said, or what was expected, does not count.
//
// Gold links join the words that decide a label to that label: the word with the sign, its negation, and the noun if
// the sign depends on it.
#include <algorithm>

#include "attend/data/builtin_split.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

constexpr size_t kFeelingsTrain = 20000;

/// What is judged, and its own words of judgement; the two lists are separated by blanks.
struct Aspect {
  std::string_view noun, verb, good, bad;
};

constexpr Aspect kAspects[] = {
    // of a meal
    {"beer", "was", "cold fresh", "warm flat"},
    {"soup", "was", "hot rich", "cold thin salty"},
    {"crust", "was", "thin crisp", "thick soggy"},
    {"menu", "was", "long varied", "short plain"},
    {"wait", "was", "short", "long"},
    {"bill", "was", "small fair", "large"},
    {"waiter", "was", "quick polite", "slow rude"},
    {"bread", "was", "warm fresh", "hard stale dry"},
    {"tables", "were", "large clean", "small sticky"},
    {"music", "was", "soft", "loud"},
    // of a film
    {"plot", "was", "clever tight", "thin silly"},
    {"story", "was", "rich gripping", "long slow"},
    {"actors", "were", "brilliant natural", "wooden stiff"},
    {"jokes", "were", "dry clever", "stale flat"},
    {"ending", "was", "moving quiet", "flat silly"},
    {"seats", "were", "wide soft", "hard narrow"},
    {"screen", "was", "large", "small"},
    {"hall", "was", "dark quiet", "loud cold"},
    {"dialogue", "was", "quick dry", "stiff slow"},
    {"trailer", "was", "short", "long loud"},
    // of a stay
    {"room", "was", "large quiet warm", "small dark cold"},
    {"bed", "was", "wide soft", "hard narrow"},
    {"street", "was", "quiet", "loud dark"},
    {"pool", "was", "warm clean", "cold small"},
    {"shower", "was", "hot strong", "cold weak"},
    {"coffee", "was", "strong hot", "weak cold"},
    {"walls", "were", "thick", "thin"},
    {"stairs", "were", "wide", "steep narrow"},
    {"porter", "was", "polite quick", "rude slow"},
    {"window", "was", "large clean", "small sticky"},
};

constexpr std::string_view kGood[] = {"good",      "great",  "lovely",     "wonderful",
                                      "excellent", "superb", "delightful", "perfect"};
constexpr std::string_view kBad[] = {"bad",      "awful",    "terrible",      "poor",
                                     "dreadful", "horrible", "disappointing", "useless"};

constexpr std::string_view kDegrees[] = {"very", "really", "quite", "so", "truly", "rather"};
constexpr std::string_view kNegations[] = {"not", "not at all", "never", "hardly", "far from", "anything but"};

/// Past, and what follows "did not".
struct Verb {
  std::string_view past, base;
};
constexpr Verb kLiked[] = {{"loved", "love"}, {"liked", "like"}, {"enjoyed", "enjoy"}, {"admired", "admire"}};
constexpr Verb kHated[] = {{"hated", "hate"}, {"disliked", "dislike"}, {"regretted", "regret"}, {"loathed", "loathe"}};

constexpr std::string_view kWho[] = {"we", "i", "my wife", "my brother", "the children", "our friends", "everyone"};
constexpr std::string_view kOthers[] = {"the guide", "an old review", "my boss", "a leaflet", "the radio"};

// %D a day, %C company, %P a place.
constexpr std::string_view kAnywhere[] = {
    "we went there on %D with %C",
    "it is close to the %P",
    "it is not far from the %P",
    "we came late , but they let us in",
    "we paid by card",
    "it rained all %D",
    "nobody else was there that %D",
    "we had never been there before",
    "we wanted to leave by car , but we took the bus",
    "i went with %C and stayed until ten",
    "there is a %P around the corner",
    "%C did not come with us",
};
constexpr std::string_view kAtMeal[] = {"we did not book a table", "we shared a plate and two glasses",
                                        "they serve lunch from noon", "i ordered what %C had"};
constexpr std::string_view kAtFilm[] = {"we did not read the book", "the film begins in a %P",
                                        "it was made in one summer", "i saw it again on %D"};
constexpr std::string_view kAtStay[] = {"we did not stay for breakfast", "we slept on the second floor",
                                        "they gave us two keys", "i called them on %D"};
constexpr std::string_view kOutingDays[] = {"monday", "tuesday", "friday", "saturday", "sunday", "evening", "weekend"};
constexpr std::string_view kCompany[] = {"my sister", "two friends", "our neighbours", "my uncle", "a colleague"};
constexpr std::string_view kSights[] = {"station", "harbour", "market", "museum", "park", "school", "bridge"};

struct Domain {
  std::span<const Aspect> aspects;
  std::span<const std::string_view> neutral;
};
constexpr std::span<const Aspect> kAll(kAspects);
constexpr Domain kDomains[] = {{kAll.first(10), kAtMeal}, {kAll.subspan(10, 10), kAtFilm}, {kAll.last(10), kAtStay}};

/// Whether an adjective is good for some nouns and bad for others.
bool depends_on_noun(std::string_view adjective) {
  bool good = false, bad = false;
  for (const Domain& domain : kDomains) {
    for (const Aspect& aspect : domain.aspects) {
      good = good || is_listed(aspect.good, adjective);
      bad = bad || is_listed(aspect.bad, adjective);
    }
  }
  return good && bad;
}

/// A review under construction. Words that decide its label have a "*" in front.
class Review {
 public:
  explicit Review(Random& random) : random_(random), domain_(one_of(random, kDomains)) {}

  Example draw() {
    constexpr std::string_view kLabels[] = {"positive", "negative", "mixed"};
    const size_t label = random_.below(std::size(kLabels));
    std::vector<std::string> sentences = opinions(label);
    for (uint64_t left = random_.below(3); left > 0; --left) sentences.push_back(neutral());
    if (chance(random_, 0.4)) sentences.push_back(hearsay());
    for (size_t i = sentences.size(); i > 1; --i) std::swap(sentences[i - 1], sentences[random_.below(i)]);
    return example(sentences, kLabels[label]);
  }

 private:
  std::vector<std::string> opinions(size_t label) {
    const bool mixed = label == 2, good = mixed ? chance(random_, 0.5) : label == 0;
    const size_t count = domain_.aspects.size(), one = random_.below(count);
    const size_t other = (one + 1 + random_.below(count - 1)) % count;
    const std::string first = judgement(domain_.aspects[one], good);
    if (!mixed && chance(random_, 0.4)) return {first};
    const std::string second = judgement(domain_.aspects[other], mixed ? !good : good);
    if (chance(random_, 0.4)) return {first, second};
    if (!mixed) return {first + " and " + second};
    if (chance(random_, 0.3)) return {"although " + first + " , " + second};
    return {first + (chance(random_, 0.7) ? " , but " : " and yet ") + second};
  }

  std::string judgement(const Aspect& aspect, bool good) {
    return chance(random_, 0.7) ? described(aspect, good) : felt(aspect, good);
  }

  /// "the soup was not at all hot"
  std::string described(const Aspect& aspect, bool good) {
    const bool negated = chance(random_, 0.35);
    const std::string_view adjective = adjective_of(aspect, good != negated);
    std::string text = "the " + marked(aspect.noun, depends_on_noun(adjective)) + " " + std::string(aspect.verb);
    if (negated) {
      text += " " + marked(one_of(random_, kNegations), true);
    } else if (chance(random_, 0.4)) {
      text.append(" ").append(one_of(random_, kDegrees));
    }
    return text + " " + marked(adjective, true);
  }

  /// "we did not enjoy the soup"
  std::string felt(const Aspect& aspect, bool good) {
    const bool negated = chance(random_, 0.35);
    const Verb& verb = good != negated ? one_of(random_, kLiked) : one_of(random_, kHated);
    const std::string deed = negated ? "did *not " + marked(verb.base, true) : marked(verb.past, true);
    return std::string(one_of(random_, kWho)) + " " + deed + " the " + std::string(aspect.noun);
  }

  /// Statements that do not count, however they sound.
  std::string hearsay() {
    const Aspect& aspect = one_of(random_, domain_.aspects);
    const std::string noun(aspect.noun), adjective(adjective_of(aspect, chance(random_, 0.5)));
    const std::string others(one_of(random_, kOthers));
    switch (random_.below(3)) {
      case 0: return others + " calls the " + noun + " " + adjective;
      case 1: return std::string(one_of(random_, kWho)) + " had expected the " + noun + " to be " + adjective;
      default: return others + " had promised that the " + noun + " would be " + adjective;
    }
  }

  std::string_view adjective_of(const Aspect& aspect, bool good) {
    if (chance(random_, 0.4)) return good ? one_of(random_, kGood) : one_of(random_, kBad);
    return one_of(random_, split_words(good ? aspect.good : aspect.bad));
  }

  std::string neutral() {
    const std::string_view form = chance(random_, 0.7) ? one_of(random_, kAnywhere) : one_of(random_, domain_.neutral);
    std::string text;
    for (size_t i = 0; i < form.size(); ++i) {
      if (form[i] != '%') {
        text += form[i];
        continue;
      }
      const char slot = form[++i];
      text += slot == 'D'   ? one_of(random_, kOutingDays)
              : slot == 'C' ? one_of(random_, kCompany)
                            : one_of(random_, kSights);
    }
    return text;
  }

  /// Every word with a "*" in front, or none.
  static std::string marked(std::string_view words, bool matters) {
    std::string text;
    for (const std::string_view word : split_words(words)) {
      text.append(text.empty() ? "" : " ").append(matters ? "*" : "").append(word);
    }
    return text;
  }

  static Example example(const std::vector<std::string>& sentences, std::string_view label) {
    Example example;
    example.target = label;
    int32_t place = 0;
    const auto add = [&](std::string_view word) {
      if (word.starts_with('*')) {
        example.links.push_back({place, 0});
        word.remove_prefix(1);
      }
      example.source.append(place++ == 0 ? "" : " ").append(word);
    };
    for (const std::string& sentence : sentences) {
      for (const std::string_view word : split_words(sentence)) add(word);
      add(".");
    }
    return example;
  }

  Random& random_;
  const Domain& domain_;
};

}  // namespace

BuiltinCorpus make_feelings(uint64_t seed) {
  const auto draw = [](Random& numbers) { return Review(numbers).draw(); };
  return drawn_corpus("feelings", seed, kFeelingsTrain, HoldOut::kKnownWords, draw);
}

}  // namespace attend::data
