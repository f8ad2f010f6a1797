// The words of the built-in Hindi corpus, each with all its forms: one spelling per word, and only the endings of
// participles and futures are formed by rule. What goes with what (who eats, what is read) is given by sets of kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace attend::data::hindi {

using Text = std::string_view;
using Kinds = uint32_t;

enum Kind : Kinds {
  kPerson = 1 << 0,
  kKin = 1 << 1,    // always somebody's
  kElder = 1 << 2,  // kin referred to in the plural, out of respect
  kName = 1 << 3,
  kAnimal = 1 << 4,
  kFruit = 1 << 5,
  kFood = 1 << 6,
  kDrink = 1 << 7,
  kCooked = 1 << 8,
  kReading = 1 << 9,
  kWriting = 1 << 10,
  kGoods = 1 << 11,
  kThing = 1 << 12,
  kBuilding = 1 << 13,
  kOpening = 1 << 14,
  kSound = 1 << 15,
  kShow = 1 << 16,
  kBird = 1 << 17,
  kSport = 1 << 18,
  kEpicene = 1 << 19,   // takes the gender of the person: she is my friend, meri dost
  kPortable = 1 << 20,  // found on tables
  kPeople = kPerson | kKin | kElder | kName,
  kAnimate = kPeople | kAnimal,
};

enum class Gender : uint8_t { kMasculine, kFeminine };

/// Whose: decides between "his" and "his own" (uska, apna).
enum class Owner : uint8_t { kNobody, kI, kYou, kHe, kShe, kWe, kThey };

/// What Hindi verbs and adjectives agree with. "tum" is plural for both.
struct Agreement {
  uint8_t person = 3;
  bool plural = false;
  Gender gender = Gender::kMasculine;
};

struct Noun {
  Text singular, plural;  // no plural: a name or a mass
  Text direct, direct_plural, oblique, oblique_plural;
  Gender gender;
  Kinds kinds;
};

struct Pronoun {
  Text subject, object;
  Text direct, ergative, dative, with;  // main, maine, mujhe, mujhse
  Agreement agreement;
  Owner owner;
};

/// A word before a noun in its three forms: mera, mere, meri.
struct Forms {
  Text masculine, masculine_plural, feminine;
};

enum Number : uint8_t { kSingular = 1, kPlural = 2, kMass = 4, kAnyNumber = 7 };

struct Determiner {
  Text english;
  Forms hindi;
  Owner owner;
  uint8_t numbers;
  int weight;
};

struct Adjective {
  Text english;
  Forms hindi;
  Kinds before;  // the good book
  Kinds after;   // the book is good
};

enum class Tense : uint8_t { kHabitual, kProgressive, kPastProgressive, kPast, kFuture, kPerfect };
using Tenses = uint8_t;
constexpr Tenses only(Tense tense) { return static_cast<Tenses>(1 << static_cast<int>(tense)); }

constexpr Tenses kAllTenses = 63;

enum Role : uint8_t {
  kGoal = 1,
  kSource = 2,
  kActivity = 4,
  kShop = 8,
  kDwelling = 16,
  kRest = 32,    // where things are
  kAskable = 64  // in verbs: one may ask where
};

struct EnglishVerb {
  Text base, third, progressive, past, participle;
};

/// raha, khaya …: perfective forms; and the future without -nga/-ge/-ga.
struct HindiVerb {
  Text stem;
  Text perfect, perfect_plural, perfect_feminine, perfect_feminine_plural;
  Text future_first, future_second, future_third, future_plural;
};

/// What the past of a verb agrees with when its subject takes "ne".
enum class Light : uint8_t { kNone, kMasculine, kFeminine };

struct Verb {
  EnglishVerb english;
  Text particle = "";  // listen "to"
  const HindiVerb* hindi;
  Text before = "";            // the word that makes the verb with "kar": kaam, band
  Light light = Light::kNone;  // its gender, where it is a noun and takes the agreement
  bool ergative = false;       // its subject takes "ne" in the perfective tenses
  Text marker = "";            // what its object always takes: "se"
  Kinds subjects = kPeople, objects = 0;
  uint8_t places = 0;
  bool needs_place = false;
  bool lasting = false;  // nobody loves on mondays
  Tenses tenses = kAllTenses;
};

/// A phrase that is always the same, with its links in the way of alignment.h.
struct Place {
  Text english, hindi, links;
  uint8_t roles;
};

struct Time {
  Text english, hindi, links;
  Tenses tenses;
};

/// "this is my book"; the plural goes with plural nouns.
struct Demonstrative {
  Text english, hindi;
  bool plural;
};

std::span<const Noun> nouns();
std::span<const Pronoun> pronouns();
std::span<const Determiner> determiners();
std::span<const Adjective> adjectives();
std::span<const Verb> verbs();
std::span<const Place> places();
std::span<const Time> times();
std::span<const Demonstrative> demonstratives();

extern const Pronoun kWho;
extern const Forms kOwn;
extern const HindiVerb kBe;

}  // namespace attend::data::hindi
