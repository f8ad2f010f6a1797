// What the sentences of the built-in Hindi corpus mean, before they are put into either language.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "attend/data/hindi_lexicon.h"

namespace attend::data::hindi {

/// A pronoun, a demonstrative, or a noun with what stands before it; without any of them, nothing.
struct NounPhrase {
  const Pronoun* pronoun = nullptr;
  const Demonstrative* demonstrative = nullptr;
  const Noun* noun = nullptr;
  const Determiner* determiner = nullptr;
  const Adjective* adjective = nullptr;
  bool plural = false;

  bool spoken() const { return pronoun || demonstrative || noun; }
  Agreement agreement() const;
  Owner owner() const;
  /// As English counts: tum and elders are one.
  bool one() const;
  /// Its English verb takes -s.
  bool third_singular() const { return one() && agreement().person == 3; }
};

enum class Mood : uint8_t { kStatement, kYesNo, kWho, kWhat, kWhere, kWhen, kWhy };

/// Without a verb it is "to be", in the progressive tenses (whose auxiliaries are its forms) or the future, with an
/// object, an adjective or a place to follow.
struct Clause {
  Mood mood = Mood::kStatement;
  bool negated = false;
  Tense tense = Tense::kProgressive;
  const Verb* verb = nullptr;
  NounPhrase subject, object;
  const Adjective* adjective = nullptr;
  const Place* place = nullptr;
  const Time* time = nullptr;
};

/// The choices that a grammar makes: at random, or all in turn.
class Choices {
 public:
  virtual ~Choices() = default;
  /// An index; the larger its weight, the likelier.
  virtual size_t among(std::span<const int> weights) = 0;
  bool chance(int yes, int no) { return among(std::array<int, 2>{no, yes}) == 1; }
};

/// The rows that may be used: all, or those whose English is made of the given words.
class Lexicon {
 public:
  Lexicon();
  explicit Lexicon(const std::vector<Text>& words);

  std::vector<const Noun*> nouns;
  std::vector<const Pronoun*> pronouns;
  std::vector<const Determiner*> determiners;
  std::vector<const Adjective*> adjectives;
  std::vector<const Verb*> verbs;
  std::vector<const Place*> places;
  std::vector<const Time*> times;
  std::vector<const Demonstrative*> demonstratives;
};

/// A clause; nothing if the choices led to a dead end.
std::optional<Clause> choose_clause(Choices& choices, const Lexicon& lexicon);

}  // namespace attend::data::hindi
