// English sentences and the parts of speech of their words, with the tags of the Penn Treebank (Marcus et al. 1993).
//
// Many words have several parts of speech, and the sentence decides: "can" and "will" (MD, NN), "saw" (VBD, NN),
// "light" (JJ, NN, VB), "that" (DT, IN, WDT), "her" (PRP, PRP$), "like" (IN, VB), "walks" (NNS, VBZ), "opened" (VBD,
// VBN). And half of the held-out sentences contain forms of regular words that training never sees ("blinks", when it
// sees "blink", "blinked" and "blinking"): to recognise them, a network must look inside.
#include <algorithm>
#include <optional>

#include "attend/data/builtin_split.h"
#include "attend/data/english_forms.h"

namespace attend::data {
namespace {

constexpr size_t kTagsTrain = 20000;
constexpr double kTagsWithheld = 0.12;  // of the inflected forms

constexpr std::string_view kNouns[] = {
    "dog",    "cat",       "bird",   "horse",   "farmer", "teacher", "driver", "doctor", "sailor", "painter", "baker",
    "singer", "neighbour", "girl",   "boy",     "king",   "queen",   "lawyer", "pilot",  "tiger",  "rabbit",  "house",
    "garden", "bridge",    "tower",  "river",   "table",  "window",  "door",   "box",    "bottle", "basket",  "ladder",
    "letter", "picture",   "song",   "story",   "key",    "lamp",    "coat",   "hat",    "shoe",   "ship",    "train",
    "wagon",  "ticket",    "market", "kitchen", "church", "lady",    "city",   "berry",  "cherry",
};
// Both nouns and verbs.
constexpr std::string_view kNounsAndVerbs[] = {"walk", "play",  "watch", "cook",  "dance", "paint",
                                               "call", "visit", "guard", "plant", "water", "answer",
                                               "test", "copy",  "mark",  "order", "plan",  "trick"};
constexpr std::string_view kTransitive[] = {
    "chase",  "carry", "follow", "push",  "pull",   "kick",  "wash",  "open", "close", "lift",  "clean",  "repair",
    "admire", "fear",  "touch",  "reach", "attack", "paint", "watch", "call", "visit", "guard", "answer", "copy",
    "order",  "test",  "mark",   "help",  "greet",  "grab",  "drag",  "want", "need",  "enjoy", "warm",   "dry",
};
constexpr std::string_view kIntransitive[] = {
    "bark",  "laugh", "smile", "sneeze", "arrive", "jump", "wait", "hurry", "shout", "whisper", "blink",
    "cough", "yawn",  "climb", "dance",  "walk",   "play", "cook", "nod",   "hop",   "stumble", "tremble",
};
constexpr std::string_view kGradedAdjectives[] = {
    "short",  "rich", "quick",   "slow",   "loud",  "quiet",  "proud",  "brave", "kind",  "cold",  "warm",  "dark",
    "bright", "soft", "rough",   "smooth", "sweet", "gentle", "simple", "happy", "angry", "lazy",  "noisy", "heavy",
    "clean",  "dry",  "strange", "strict", "calm",  "fierce", "light",  "cheap", "deep",  "sharp", "thick", "weak",
};
constexpr std::string_view kFirstNames[] = {"Anna", "Peter", "Maria", "Tom", "Clara", "Oscar", "Nina", "Hugo"};
constexpr std::string_view kPrepositions[] = {"in", "near", "behind", "under", "beside", "from"};
constexpr std::string_view kModals[] = {"can", "will", "must", "may", "should"};
constexpr std::string_view kOddNouns[] = {"can", "saw", "light", "will"};
constexpr std::string_view kReporting[] = {"said", "knew", "thought", "heard"};
constexpr std::string_view kTried[] = {"tried", "wanted", "hoped", "began"};
constexpr std::string_view kPossessives[] = {"her", "his", "their", "my"};

enum class Number { kOne, kMany };

/// A sentence under construction.
class Sentence {
 public:
  explicit Sentence(Random& random) : random_(random) {}

  Example draw() {
    if (chance(random_, 0.12)) {
      question();
    } else {
      clause(true);
      if (chance(random_, 0.12)) {
        say(one_of(random_, kJoins), "CC");
        clause(false);
      }
      say(".", ".");
    }
    return std::move(example_);
  }
  /// Whether it has a form that training never sees.
  bool is_novel() const { return novel_; }

 private:
  static constexpr std::string_view kJoins[] = {"and", "but", "or"};

  void say(std::string_view word, std::string_view tag) {
    const bool after_a = example_.source == "a" || example_.source.ends_with(" a");
    if (after_a && std::string_view("aeiou").find(word[0]) != std::string_view::npos) example_.source += 'n';
    example_.source.append(example_.source.empty() ? "" : " ").append(word);
    example_.target.append(example_.target.empty() ? "" : " ").append(tag);
  }
  /// A form of a regular word.
  void inflected(const std::string& word, std::string_view tag) {
    novel_ = novel_ || is_withheld(word, kTagsWithheld);
    say(word, tag);
  }

  void question() {
    const bool did = chance(random_, 0.4);
    did ? say("did", "VBD") : say(one_of(random_, kModals), "MD");
    noun_phrase(false);
    bare_predicate();
    say("?", ".");
  }

  void clause(bool whole) {
    const Number number = subject(whole);
    switch (random_.below(whole ? 10 : 7)) {
      case 0: return finite(number, transitive());
      case 1: return finite(number, std::nullopt);
      case 2: return modal();
      case 3: return perfect(number);
      case 4: return progressive(number);
      case 5: return passive(number);
      case 6: return copula(number);
      case 7: return saw();
      case 8: return tried();
      default: return said();
    }
  }

  /// What may precede a verb, and its number.
  Number subject(bool whole) {
    if (chance(random_, 0.2)) {
      const bool many = chance(random_, 0.5);
      constexpr std::string_view kOne[] = {"he", "she", "it"}, kMany[] = {"they", "we", "you"};
      say(many ? one_of(random_, kMany) : one_of(random_, kOne), "PRP");
      return many ? Number::kMany : Number::kOne;
    }
    const Number number = noun_phrase(true);
    if (whole && chance(random_, 0.12)) relative(number);
    return number;
  }

  Number noun_phrase(bool that) {
    if (chance(random_, 0.1)) {
      say(one_of(random_, kFirstNames), "NNP");
      return Number::kOne;
    }
    const Number number = chance(random_, 0.4) ? Number::kMany : Number::kOne;
    const bool definite = determiner(number, that);
    if (chance(random_, 0.35)) adjective(definite);
    noun(number);
    return number;
  }

  /// Whether what follows may be a superlative.
  bool determiner(Number number, bool that) {
    constexpr std::string_view kSome[] = {"the", "the", "some", "these"}, kOne[] = {"the", "the", "a", "every"};
    constexpr std::string_view kCounts[] = {"two", "three", "five", "ten"};
    if (chance(random_, 0.2)) {
      say(one_of(random_, kPossessives), "PRP$");
      return true;
    }
    if (number == Number::kMany && chance(random_, 0.25)) {
      say(one_of(random_, kCounts), "CD");
      return false;
    }
    if (number == Number::kOne && that && chance(random_, 0.25)) {
      say("that", "DT");
      return false;
    }
    const std::string_view word = number == Number::kMany ? one_of(random_, kSome) : one_of(random_, kOne);
    say(word, "DT");
    return word == "the";
  }

  void adjective(bool definite) {
    const std::string_view stem = one_of(random_, kGradedAdjectives);
    const double kind = definite ? random_.uniform53() : 1;
    if (kind < 0.25) return inflected(with_er(stem), "JJR");
    if (kind < 0.5) return inflected(with_est(stem), "JJS");
    say(stem, "JJ");
  }

  void noun(Number number) {
    const double kind = random_.uniform53();
    const std::string_view stem = kind < 0.15   ? one_of(random_, kOddNouns)
                                  : kind < 0.35 ? one_of(random_, kNounsAndVerbs)
                                                : one_of(random_, kNouns);
    number == Number::kMany ? inflected(with_s(stem), "NNS") : say(stem, "NN");
  }

  void relative(Number number) {
    say("that", "WDT");
    finite(number, chance(random_, 0.5) ? transitive() : std::nullopt);
  }

  std::optional<std::string_view> transitive() { return one_of(random_, kTransitive); }

  /// Present or past, with an object if the verb is given.
  void finite(Number number, std::optional<std::string_view> verb) {
    const std::string_view stem = verb ? *verb : one_of(random_, kIntransitive);
    const bool early = chance(random_, 0.2);
    if (early) adverb();
    if (chance(random_, 0.5)) {
      inflected(with_ed(stem), "VBD");
    } else if (number == Number::kOne) {
      inflected(with_s(stem), "VBZ");
    } else {
      say(stem, "VBP");
    }
    if (verb) return object();
    ending(early);
  }

  void object() {
    if (chance(random_, 0.2)) {
      constexpr std::string_view kThem[] = {"her", "him", "them", "us", "it"};
      say(one_of(random_, kThem), "PRP");
    } else {
      noun_phrase(true);
    }
    if (chance(random_, 0.25)) place();
  }

  /// After a verb without an object.
  void ending(bool had_adverb) {
    const double kind = random_.uniform53();
    if (kind < 0.3 && !had_adverb) return adverb();
    if (kind < 0.55) return place();
    if (kind > 0.9) {
      say("like", "IN");
      noun_phrase(true);
    }
  }

  void place() {
    say(one_of(random_, kPrepositions), "IN");
    noun_phrase(true);
  }

  void adverb() { inflected(with_ly(one_of(random_, kGradedAdjectives)), "RB"); }

  /// A verb in its base form, and what follows.
  void bare_predicate() {
    const double kind = random_.uniform53();
    if (kind < 0.15) {
      constexpr std::string_view kOdd[] = {"like", "light"};
      say(one_of(random_, kOdd), "VB");
      return object();
    }
    if (kind < 0.6) {
      say(*transitive(), "VB");
      return object();
    }
    say(one_of(random_, kIntransitive), "VB");
    ending(false);
  }

  void modal() {
    say(one_of(random_, kModals), "MD");
    if (chance(random_, 0.25)) say("not", "RB");
    bare_predicate();
  }

  void perfect(Number number) {
    number == Number::kOne ? say("has", "VBZ") : say("have", "VBP");
    if (chance(random_, 0.2)) adverb();
    if (chance(random_, 0.5)) {
      inflected(with_ed(*transitive()), "VBN");
      return object();
    }
    inflected(with_ed(one_of(random_, kIntransitive)), "VBN");
    ending(true);
  }

  /// is, are, was, were
  void be(Number number) {
    const bool past = chance(random_, 0.5);
    if (number == Number::kOne) return past ? say("was", "VBD") : say("is", "VBZ");
    past ? say("were", "VBD") : say("are", "VBP");
  }

  void progressive(Number number) {
    be(number);
    if (chance(random_, 0.5)) {
      inflected(with_ing(*transitive()), "VBG");
      return object();
    }
    inflected(with_ing(one_of(random_, kIntransitive)), "VBG");
    ending(false);
  }

  void passive(Number number) {
    be(number);
    if (chance(random_, 0.2)) adverb();
    inflected(with_ed(*transitive()), "VBN");
    if (!chance(random_, 0.6)) return;
    say("by", "IN");
    noun_phrase(true);
  }

  void copula(Number number) {
    be(number);
    const std::string_view stem = one_of(random_, kGradedAdjectives);
    if (chance(random_, 0.5)) return say(stem, "JJ");
    inflected(with_er(stem), "JJR");
    say("than", "IN");
    noun_phrase(true);
  }

  void saw() {
    say("saw", "VBD");
    object();
  }

  void tried() {
    say(one_of(random_, kTried), "VBD");
    say("to", "TO");
    bare_predicate();
  }

  /// "that" is always said, and no phrase after it begins with another.
  void said() {
    say(one_of(random_, kReporting), "VBD");
    say("that", "IN");
    const Number number = noun_phrase(false);
    switch (random_.below(3)) {
      case 0: return finite(number, transitive());
      case 1: return finite(number, std::nullopt);
      default: return modal();
    }
  }

  Random& random_;
  Example example_;
  bool novel_ = false;
};

}  // namespace

BuiltinCorpus make_tags(uint64_t seed) { return corpus_with_novel<Sentence>("tags", seed, kTagsTrain); }

}  // namespace attend::data
