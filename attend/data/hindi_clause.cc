#include "attend/data/hindi_clause.h"

#include <algorithm>
#include <iterator>

namespace attend::data::hindi {
namespace {

template <class Row, class Fits, class Weight>
const Row* choose(Choices& choices, const std::vector<const Row*>& rows, Fits fits, Weight weight) {
  std::array<const Row*, 64> fitting;
  std::array<int, 64> weights;
  size_t count = 0;
  for (const Row* row : rows) {
    if (!fits(*row)) continue;
    fitting[count] = row;
    weights[count++] = weight(*row);
  }
  return count == 0 ? nullptr : fitting[choices.among({weights.data(), count})];
}

template <class Row, class Fits>
const Row* choose(Choices& choices, const std::vector<const Row*>& rows, Fits fits) {
  return choose(choices, rows, fits, [](const Row&) { return 1; });
}

template <class Value>
struct Weighted {
  Value value;
  int weight;
};

template <class Value, size_t count>
Value choose(Choices& choices, const Weighted<Value> (&rows)[count]) {
  std::array<int, count> weights;
  std::transform(std::begin(rows), std::end(rows), weights.begin(), [](const auto& row) { return row.weight; });
  return rows[choices.among(weights)].value;
}

bool among_tenses(Tenses tenses, Tense tense) { return tenses & only(tense); }
bool first(Owner owner) { return owner == Owner::kI || owner == Owner::kWe; }

uint8_t number_of(const Noun& noun, bool plural) {
  if (plural) return kPlural;
  return noun.plural.empty() && !(noun.kinds & kElder) ? kMass : kSingular;
}

/// Brothers are somebody's, cricket is nobody's, and so are birds and the people of the street.
bool fits_noun(const Determiner& determiner, const Noun& noun, bool plural) {
  if (!(determiner.numbers & number_of(noun, plural))) return false;
  if (noun.kinds & (kKin | kElder)) return determiner.owner != Owner::kNobody;
  if (noun.kinds & kSport) return determiner.english.empty();
  return determiner.owner == Owner::kNobody || !(noun.kinds & (kPerson | kBird));
}

// Only women bring in the feminine plurals of verbs, and there are only two animals.
int weight_of_noun(const Noun& noun) {
  if (noun.kinds & kAnimal) return 2;
  return noun.gender == Gender::kFeminine && noun.kinds & (kPerson | kKin | kElder) ? 3 : 1;
}

/// Red things are always red; the adjectives that cannot precede a noun here are moods.
bool lasting(const Clause& clause) {
  return clause.verb ? clause.verb->lasting : clause.adjective && clause.adjective->before != 0;
}

class Speaker {
 public:
  Speaker(Choices& choices, const Lexicon& lexicon) : choices_(choices), lexicon_(lexicon) {}

  std::optional<Clause> action();
  std::optional<Clause> being();

 private:
  NounPhrase noun_phrase(Kinds kinds);
  const Pronoun* pronoun();
  NounPhrase subject(Kinds kinds);
  NounPhrase object(const Verb& verb);
  const Adjective* adjective_before(Kinds kinds);
  const Place* place(uint8_t roles);
  const Time* time(const Clause& clause);
  bool complement_adjective(Clause& clause);
  bool complement_role(Clause& clause);
  bool complement_place(Clause& clause);
  bool complement_of_demonstrative(Clause& clause);

  Choices& choices_;
  const Lexicon& lexicon_;
};

const Adjective* Speaker::adjective_before(Kinds kinds) {
  if (!choices_.chance(1, 3)) return nullptr;
  return choose(choices_, lexicon_.adjectives, [&](const Adjective& row) { return (row.before & kinds) != 0; });
}

NounPhrase Speaker::noun_phrase(Kinds kinds) {
  NounPhrase phrase;
  phrase.noun = choose(
      choices_, lexicon_.nouns, [&](const Noun& row) { return (row.kinds & kinds) != 0; }, weight_of_noun);
  if (!phrase.noun || phrase.noun->kinds & kName) return phrase;
  phrase.plural = !phrase.noun->plural.empty() && choices_.chance(2, 3);
  phrase.determiner = choose(
      choices_, lexicon_.determiners,
      [&](const Determiner& row) { return fits_noun(row, *phrase.noun, phrase.plural); },
      [](const Determiner& row) { return row.weight; });
  if (!phrase.determiner) return {};
  phrase.adjective = adjective_before(phrase.noun->kinds);
  return phrase;
}

NounPhrase Speaker::subject(Kinds kinds) {
  if (choices_.chance(1, 1)) return {.pronoun = pronoun()};
  const NounPhrase phrase = noun_phrase(kinds & kAnimate);
  return phrase.determiner && phrase.determiner->english.empty() ? NounPhrase{} : phrase;  // "boys go" is no one's news
}

// Only i and you have verb forms of their own, which would otherwise be rare.
const Pronoun* Speaker::pronoun() {
  return choose(
      choices_, lexicon_.pronouns, [](const Pronoun&) { return true; },
      [](const Pronoun& row) { return row.agreement.person == 3 || row.owner == Owner::kWe ? 2 : 3; });
}

NounPhrase Speaker::object(const Verb& verb) {
  const Kinds living = verb.objects & kAnimate, lifeless = verb.objects & ~living;
  if (!living || (lifeless && choices_.chance(1, 1))) return noun_phrase(lifeless);
  return choices_.chance(2, 3) ? NounPhrase{.pronoun = pronoun()} : noun_phrase(living);
}

const Place* Speaker::place(uint8_t roles) {
  return choose(choices_, lexicon_.places, [&](const Place& row) { return (row.roles & roles) != 0; });
}

const Time* Speaker::time(const Clause& clause) {
  if (lasting(clause) || clause.mood == Mood::kWhen || !choices_.chance(2, 3)) return nullptr;
  return choose(choices_, lexicon_.times, [&](const Time& row) { return among_tenses(row.tenses, clause.tense); });
}

constexpr Weighted<Mood> kActionMoods[] = {{Mood::kStatement, 12}, {Mood::kYesNo, 4}, {Mood::kWho, 2}, {Mood::kWhat, 2},
                                           {Mood::kWhere, 2},      {Mood::kWhen, 2},  {Mood::kWhy, 2}};
constexpr Weighted<Tense> kTenses[] = {{Tense::kHabitual, 4}, {Tense::kProgressive, 4}, {Tense::kPastProgressive, 3},
                                       {Tense::kPast, 4},     {Tense::kFuture, 7},      {Tense::kPerfect, 2}};

bool may_negate(Mood mood) { return mood == Mood::kStatement || mood == Mood::kWho || mood == Mood::kWhy; }

bool may_ask(const Verb& verb, Mood mood, Tense tense) {
  constexpr Tenses kDated = only(Tense::kHabitual) | only(Tense::kPast) | only(Tense::kFuture);
  switch (mood) {
    case Mood::kWhat: return verb.marker.empty() && (verb.objects & ~kAnimate);
    case Mood::kWhere: return verb.places & kAskable;
    case Mood::kWhen: return among_tenses(kDated, tense);
    default: return true;
  }
}

/// "they read the book" is both now and then.
bool two_tenses(const Clause& clause) {
  return clause.tense == Tense::kPast && clause.mood == Mood::kStatement && !clause.negated &&
         clause.verb->english.past == clause.verb->english.base && !clause.subject.third_singular();
}

/// Nobody sees themselves or their like here: both languages would need other words. Nor is anything of mine ours.
bool well_assorted(const NounPhrase& subject, const NounPhrase& object) {
  if (!object.spoken()) return true;
  const bool both_first = first(subject.owner()) && first(object.owner());
  if (object.pronoun) return object.pronoun != subject.pronoun && !both_first;
  const Owner owner = object.determiner ? object.determiner->owner : Owner::kNobody;
  return object.noun != subject.noun && !(first(subject.owner()) && first(owner) && owner != subject.owner());
}

std::optional<Clause> Speaker::action() {
  Clause clause;
  clause.verb = choose(choices_, lexicon_.verbs, [](const Verb&) { return true; });
  if (!clause.verb) return {};
  const Verb& verb = *clause.verb;
  clause.mood = choose(choices_, kActionMoods);
  clause.tense = choose(choices_, kTenses);
  if (!among_tenses(verb.tenses, clause.tense) || !may_ask(verb, clause.mood, clause.tense)) return {};
  clause.negated = may_negate(clause.mood) && choices_.chance(1, 2);
  clause.subject = clause.mood == Mood::kWho ? NounPhrase{.pronoun = &kWho} : subject(verb.subjects);
  if (!clause.subject.spoken() || two_tenses(clause)) return {};
  const bool takes_object = verb.objects && clause.mood != Mood::kWhat;
  if (takes_object) clause.object = object(verb);
  if (clause.object.spoken() != takes_object || !well_assorted(clause.subject, clause.object)) return {};
  if (clause.mood != Mood::kWhere && verb.places && (verb.needs_place || choices_.chance(1, 1))) {
    clause.place = place(verb.places);
    if (!clause.place) return {};
  }
  clause.time = time(clause);
  return clause;
}

/// "a car is red" and "cars are red" are not said of a car.
bool definite(const NounPhrase& phrase) {
  return !phrase.determiner || phrase.determiner->owner != Owner::kNobody || phrase.determiner->english == "the";
}

bool Speaker::complement_adjective(Clause& clause) {
  clause.adjective = choose(choices_, lexicon_.adjectives, [](const Adjective&) { return true; });
  if (!clause.adjective) return false;
  const Kinds kinds = clause.adjective->after;
  clause.subject = kinds & kPerson ? subject(kinds) : noun_phrase(kinds);
  return clause.subject.spoken() && !clause.subject.adjective && definite(clause.subject);
}

bool Speaker::complement_role(Clause& clause) {
  clause.subject = subject(kPeople);
  NounPhrase& role = clause.object;
  role = noun_phrase(kEpicene);
  if (!clause.subject.spoken() || !definite(clause.subject) || !role.spoken()) return false;
  if (clause.subject.noun && clause.subject.noun->kinds & kEpicene) return false;
  if (role.plural == clause.subject.one() || (role.adjective && !(role.adjective->before & kEpicene))) return false;
  const Owner owner = role.determiner->owner, self = clause.subject.owner();
  if (owner == Owner::kNobody) return role.determiner->english == (role.plural ? "" : "a");
  const bool shared = clause.subject.determiner && clause.subject.determiner->owner == owner;  // our sister, our friend
  return role.noun->kinds & kKin && owner != self && !shared && !(first(owner) && first(self));
}

bool Speaker::complement_place(Clause& clause) {
  constexpr Weighted<Mood> kMoods[] = {
      {Mood::kStatement, 4}, {Mood::kYesNo, 3}, {Mood::kWhere, 2}, {Mood::kWho, 1}, {Mood::kWhy, 1}};
  clause.mood = choose(choices_, kMoods);
  const bool thing = clause.mood != Mood::kWho && choices_.chance(1, 2);
  clause.subject = clause.mood == Mood::kWho ? NounPhrase{.pronoun = &kWho}
                   : thing                   ? noun_phrase(kPortable)
                                             : subject(kAnimate);
  if (clause.mood != Mood::kWhere) clause.place = place(thing ? kRest : kActivity | kShop | kDwelling);
  return clause.subject.spoken() && definite(clause.subject) && (clause.place || clause.mood == Mood::kWhere);
}

bool Speaker::complement_of_demonstrative(Clause& clause) {
  clause.object = noun_phrase(kThing | kBuilding | kReading | kPerson | kKin | kAnimal);
  if (!clause.object.spoken()) return false;
  const Determiner& determiner = *clause.object.determiner;
  const Text bare = clause.object.plural ? "" : "a";
  clause.subject.demonstrative = choose(choices_, lexicon_.demonstratives,
                                        [&](const Demonstrative& row) { return row.plural == clause.object.plural; });
  return clause.subject.spoken() && (determiner.owner != Owner::kNobody || determiner.english == bare);
}

std::optional<Clause> Speaker::being() {
  using Complement = bool (Speaker::*)(Clause&);
  constexpr Weighted<Complement> kComplements[] = {{&Speaker::complement_adjective, 3},
                                                   {&Speaker::complement_role, 4},
                                                   {&Speaker::complement_place, 3},
                                                   {&Speaker::complement_of_demonstrative, 3}};
  constexpr Weighted<Mood> kMoods[] = {{Mood::kStatement, 2}, {Mood::kYesNo, 1}};
  constexpr Weighted<Tense> kBeingTenses[] = {
      {Tense::kProgressive, 3}, {Tense::kPastProgressive, 2}, {Tense::kFuture, 2}};
  const Complement complement = choose(choices_, kComplements);
  Clause clause;
  clause.mood = choose(choices_, kMoods);
  if (!(this->*complement)(clause)) return {};
  clause.negated = may_negate(clause.mood) && choices_.chance(1, 2);
  if (clause.subject.demonstrative) return clause;
  clause.tense = choose(choices_, kBeingTenses);
  if (lasting(clause) && clause.tense == Tense::kFuture) return {};
  if (complement != &Speaker::complement_role) clause.time = time(clause);
  return clause;
}

bool consists_of(Text phrase, const std::vector<Text>& words) {
  while (!phrase.empty()) {
    const size_t end = std::min(phrase.find(' '), phrase.size());
    if (std::find(words.begin(), words.end(), phrase.substr(0, end)) == words.end()) return false;
    phrase.remove_prefix(std::min(end + 1, phrase.size()));
  }
  return true;
}

std::vector<Text> english_forms(const Noun& row) {
  return row.plural.empty() ? std::vector{row.singular} : std::vector{row.singular, row.plural};
}
std::vector<Text> english_forms(const Pronoun& row) { return {row.subject, row.object}; }
std::vector<Text> english_forms(const Determiner& row) {
  return {row.english, row.english == "a" ? "an" : row.english};
}
std::vector<Text> english_forms(const Verb& row) {
  const EnglishVerb& verb = row.english;
  return {verb.base, verb.third, verb.progressive, verb.past, verb.participle};
}
template <class Row>
std::vector<Text> english_forms(const Row& row) {
  return {row.english};
}

template <class Row>
std::vector<const Row*> rows_of(std::span<const Row> table, const std::vector<Text>* words) {
  std::vector<const Row*> rows;
  for (const Row& row : table) {
    const auto forms = english_forms(row);
    if (!words || std::any_of(forms.begin(), forms.end(), [&](Text form) { return consists_of(form, *words); }))
      rows.push_back(&row);
  }
  return rows;
}

void fill(Lexicon& lexicon, const std::vector<Text>* words) {
  lexicon.nouns = rows_of(nouns(), words);
  lexicon.pronouns = rows_of(pronouns(), words);
  lexicon.determiners = rows_of(determiners(), words);
  lexicon.adjectives = rows_of(adjectives(), words);
  lexicon.verbs = rows_of(verbs(), words);
  lexicon.places = rows_of(places(), words);
  lexicon.times = rows_of(times(), words);
  lexicon.demonstratives = rows_of(demonstratives(), words);
}

}  // namespace

Agreement NounPhrase::agreement() const {
  if (pronoun) return pronoun->agreement;
  if (demonstrative) return {3, demonstrative->plural, Gender::kMasculine};  // hai, hain: no gender shows
  return {3, plural || (noun->kinds & kElder), noun->gender};
}

Owner NounPhrase::owner() const {
  if (pronoun) return pronoun->owner;
  if (!noun) return Owner::kNobody;
  if (plural) return Owner::kThey;
  return noun->gender == Gender::kMasculine ? Owner::kHe : Owner::kShe;
}

bool NounPhrase::one() const {
  if (pronoun) return pronoun->agreement.person == 2 || !pronoun->agreement.plural;
  return demonstrative ? !demonstrative->plural : !plural;
}

Lexicon::Lexicon() { fill(*this, nullptr); }
Lexicon::Lexicon(const std::vector<Text>& words) { fill(*this, &words); }

std::optional<Clause> choose_clause(Choices& choices, const Lexicon& lexicon) {
  Speaker speaker(choices, lexicon);
  return choices.chance(1, 4) ? speaker.being() : speaker.action();
}

}  // namespace attend::data::hindi
