#include "attend/data/hindi_sentence.h"

#include <algorithm>
#include <array>

#include "attend/data/alignment.h"

namespace attend::data::hindi {
namespace {

/// One bit per unit of meaning. Words of the two languages that share a bit are linked.
using Meaning = uint64_t;

struct Word {
  std::string text;
  Meaning meaning = 0;
};
using Words = std::vector<Word>;

struct Phrase {
  Words english, hindi;
};

void add(Words& words, Text text, Meaning meaning = 0) {
  if (!text.empty()) words.push_back({std::string(text), meaning});
}
void add(Words& words, Words more) {
  for (Word& word : more) words.push_back(std::move(word));
}

class Meanings {
 public:
  Meaning fresh() { return Meaning{1} << next_++; }

 private:
  int next_ = 0;
};

enum class Case : uint8_t { kDirect, kErgative, kDative, kWith };

struct CaseRow {
  Text marker;
  Text Pronoun::*pronoun;
};
constexpr CaseRow kCases[] = {
    {"", &Pronoun::direct}, {"ne", &Pronoun::ergative}, {"ko", &Pronoun::dative}, {"se", &Pronoun::with}};
const CaseRow& row_of(Case grammatical) { return kCases[static_cast<size_t>(grammatical)]; }

bool feminine(Agreement agreement) { return agreement.gender == Gender::kFeminine; }

Text form_of(const Forms& forms, Agreement agreement, bool oblique = false) {
  if (feminine(agreement)) return forms.feminine;
  return agreement.plural || oblique ? forms.masculine_plural : forms.masculine;
}

Text noun_form(const NounPhrase& phrase, bool oblique) {
  const Noun& noun = *phrase.noun;
  if (oblique) return phrase.plural ? noun.oblique_plural : noun.oblique;
  return phrase.plural ? noun.direct_plural : noun.direct;
}

bool begins_with_vowel(Text word) { return Text("aeiou").find(word[0]) != Text::npos; }

Text english_determiner(const NounPhrase& phrase, Text next) {
  const Text english = phrase.determiner->english;
  return english == "a" && begins_with_vowel(next) ? "an" : english;
}

struct Usage {
  Case grammatical = Case::kDirect;
  Owner self = Owner::kNobody;  // whose things are "apna"
  Meaning preposition = 0;      // what the case marker means
  bool object = false;
  bool role = false;  // a predicate: "a doctor" is then not "ek doctor"
};

Phrase say_noun(const NounPhrase& phrase, Agreement agreement, const Usage& usage, Meanings& meanings) {
  Phrase said;
  const bool oblique = usage.grammatical != Case::kDirect;
  const Text english = phrase.plural ? phrase.noun->plural : phrase.noun->singular;
  if (phrase.determiner) {
    const Meaning meaning = meanings.fresh();
    const bool own = usage.self != Owner::kNobody && phrase.determiner->owner == usage.self;
    const bool silent = usage.role && phrase.determiner->owner == Owner::kNobody;
    add(said.english, english_determiner(phrase, phrase.adjective ? phrase.adjective->english : english), meaning);
    if (!silent) add(said.hindi, form_of(own ? kOwn : phrase.determiner->hindi, agreement, oblique), meaning);
  }
  if (phrase.adjective) {
    const Meaning meaning = meanings.fresh();
    add(said.english, phrase.adjective->english, meaning);
    add(said.hindi, form_of(phrase.adjective->hindi, agreement, oblique), meaning);
  }
  const Meaning meaning = meanings.fresh();
  add(said.english, english, meaning);
  add(said.hindi, noun_form(phrase, oblique), meaning);
  add(said.hindi, row_of(usage.grammatical).marker, usage.preposition);
  return said;
}

Phrase say_noun_phrase(const NounPhrase& phrase, Agreement agreement, const Usage& usage, Meanings& meanings) {
  if (!phrase.spoken()) return {};
  if (phrase.noun) return say_noun(phrase, agreement, usage, meanings);
  const Meaning meaning = meanings.fresh();
  if (phrase.demonstrative)
    return {{{std::string(phrase.demonstrative->english), meaning}},
            {{std::string(phrase.demonstrative->hindi), meaning}}};
  const Pronoun& pronoun = *phrase.pronoun;
  return {{{std::string(usage.object ? pronoun.object : pronoun.subject), meaning}},
          {{std::string(pronoun.*row_of(usage.grammatical).pronoun), meaning | usage.preposition}}};
}

Words split(Text text) {
  Words words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    add(words, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// A place or a time.
template <class Row>
Phrase say_fixed(const Row* row, Meanings& meanings) {
  if (!row) return {};
  Phrase said{split(row->english), split(row->hindi)};
  for (const Link& link : parse_links("built-in corpus", row->links)) {
    const Meaning meaning = meanings.fresh();
    said.english[link.source].meaning |= meaning;
    said.hindi[link.target].meaning |= meaning;
  }
  return said;
}

/// The tense is one meaning, the action another: "am" matches "hoon", "going" matches "ja rahi"; if one word has both
/// ("eats", "will", "jaungi"), it matches both.
struct VerbMeanings {
  Meaning tense, verb, negation, particle, question;
};

struct EnglishTense {
  std::array<Text, 3> auxiliary;  // i, he, they
  Text EnglishVerb::*form;
  Text EnglishVerb::*alone;        // without the auxiliary, which then only questions and negations have
  Text EnglishVerb::*alone_third;  // … of "he"
};
using EV = EnglishVerb;
constexpr EnglishTense kEnglishTenses[] = {
    {{"do", "does", "do"}, &EV::base, &EV::base, &EV::third},
    {{"am", "is", "are"}, &EV::progressive, {}, {}},
    {{"was", "was", "were"}, &EV::progressive, {}, {}},
    {{"did", "did", "did"}, &EV::base, &EV::past, &EV::past},
    {{"will", "will", "will"}, &EV::base, {}, {}},
    {{"have", "has", "have"}, &EV::participle, {}, {}},
};

size_t english_person(const NounPhrase& subject) {
  if (subject.third_singular()) return 1;
  return subject.one() && subject.agreement().person == 1 ? 0 : 2;
}

bool asks_with_inversion(Mood mood) { return mood != Mood::kStatement && mood != Mood::kWho; }

struct EnglishVerbWords {
  Words auxiliary, rest;
};

EnglishVerbWords english_verb(const Clause& clause, const VerbMeanings& meant) {
  const EnglishTense& row = kEnglishTenses[static_cast<size_t>(clause.tense)];
  const size_t person = english_person(clause.subject);
  EnglishVerbWords said;
  if (clause.verb && row.alone && !clause.negated && !asks_with_inversion(clause.mood)) {
    add(said.rest, clause.verb->english.*(person == 1 ? row.alone_third : row.alone), meant.tense | meant.verb);
    return said;
  }
  // The forms of "to be" carry both meanings; in "will be", "be" does.
  const bool future = clause.tense == Tense::kFuture;
  add(said.auxiliary, row.auxiliary[person], clause.verb || future ? meant.tense : meant.tense | meant.verb);
  if (clause.negated) add(said.rest, "not", meant.negation);
  if (clause.verb) add(said.rest, clause.verb->english.*row.form, meant.verb);
  if (!clause.verb && future) add(said.rest, "be", meant.verb);
  return said;
}

Text present_auxiliary(Agreement agreement) {
  if (agreement.person == 2) return "ho";
  if (agreement.plural) return "hain";
  return agreement.person == 1 ? "hoon" : "hai";
}

Text past_auxiliary(Agreement agreement) {
  if (feminine(agreement)) return agreement.plural ? "thin" : "thi";
  return agreement.plural ? "the" : "tha";
}

std::string habitual(const HindiVerb& verb, Agreement agreement) {
  return std::string(verb.stem).append(form_of({"ta", "te", "ti"}, agreement));
}

/// Whether it is the last word of its clause, without an auxiliary after it: only the last carries the nasal of
/// "gayin".
Text perfective(const HindiVerb& verb, Agreement agreement, bool last) {
  if (!feminine(agreement)) return agreement.plural ? verb.perfect_plural : verb.perfect;
  return agreement.plural && last ? verb.perfect_feminine_plural : verb.perfect_feminine;
}

std::string future(const HindiVerb& verb, Agreement agreement) {
  const bool first = agreement.person == 1 && !agreement.plural;
  const Text stem = first                   ? verb.future_first
                    : agreement.person == 2 ? verb.future_second
                    : agreement.plural      ? verb.future_plural
                                            : verb.future_third;
  return std::string(stem).append(first ? "n" : "").append(form_of({"ga", "ge", "gi"}, agreement));
}

Words hindi_verb(const HindiVerb& verb, Tense tense, Agreement agreement, const VerbMeanings& meant) {
  const Meaning whole = meant.tense | meant.verb;
  const std::string progressive(form_of({"raha", "rahe", "rahi"}, agreement));
  const std::string present(present_auxiliary(agreement)), past(past_auxiliary(agreement));
  switch (tense) {
    case Tense::kHabitual: return {{habitual(verb, agreement), meant.verb}, {present, meant.tense}};
    case Tense::kProgressive:
      return {{std::string(verb.stem), meant.verb}, {progressive, meant.verb}, {present, meant.tense}};
    case Tense::kPastProgressive:
      return {{std::string(verb.stem), meant.verb}, {progressive, meant.verb}, {past, meant.tense}};
    case Tense::kPast: return {{std::string(perfective(verb, agreement, true)), whole}};
    case Tense::kFuture: return {{future(verb, agreement), whole}};
    case Tense::kPerfect:
      return {{std::string(perfective(verb, agreement, false)), meant.verb}, {present, meant.tense}};
  }
  return {};
}

Words hindi_be(Tense tense, Agreement agreement, const VerbMeanings& meant) {
  Words words = hindi_verb(kBe, tense, agreement, meant);
  Word last = std::move(words.back());
  last.meaning = meant.tense | meant.verb;
  return {std::move(last)};
}

bool perfective_tense(Tense tense) { return tense == Tense::kPast || tense == Tense::kPerfect; }
bool ergative(const Clause& clause) { return clause.verb && clause.verb->ergative && perfective_tense(clause.tense); }

Case object_case(const Clause& clause) {
  if (!clause.verb || !clause.object.spoken()) return Case::kDirect;
  if (!clause.verb->marker.empty()) return Case::kWith;
  const bool animate = clause.object.pronoun || (clause.object.noun->kinds & kAnimate);
  return animate ? Case::kDative : Case::kDirect;
}

/// What the Hindi verb agrees with: its subject; after "ne" the noun that the verb is made with, otherwise the object,
/// if that has no marker; otherwise nothing, which is masculine singular.
Agreement verb_agreement(const Clause& clause) {
  if (!ergative(clause)) return clause.subject.agreement();
  if (clause.verb->light != Light::kNone)
    return {3, false, clause.verb->light == Light::kFeminine ? Gender::kFeminine : Gender::kMasculine};
  if (clause.object.spoken() && object_case(clause) == Case::kDirect) return clause.object.agreement();
  return {};
}

struct QuestionWords {
  Text english, hindi;
};
constexpr QuestionWords kQuestions[] = {{"", ""},           {"", ""},        {"", ""},       {"what", "kya"},
                                        {"where", "kahan"}, {"when", "kab"}, {"why", "kyon"}};

struct Parts {
  Phrase subject, object, place, time;
  VerbMeanings meant;
};

Words english_sentence(const Clause& clause, Parts& parts) {
  EnglishVerbWords verb = english_verb(clause, parts.meant);
  const bool inverted = asks_with_inversion(clause.mood);
  Words words;
  add(words, kQuestions[static_cast<size_t>(clause.mood)].english, parts.meant.question);
  if (inverted) add(words, std::move(verb.auxiliary));
  add(words, std::move(parts.subject.english));
  if (!inverted) add(words, std::move(verb.auxiliary));
  add(words, std::move(verb.rest));
  if (clause.verb) add(words, clause.verb->particle, parts.meant.particle);
  for (Phrase* part : {&parts.object, &parts.place, &parts.time}) add(words, std::move(part->english));
  return words;
}

/// Subject, time, place, object, question word, verb; an initial "kya" asks for yes or no, and "who" stands where the
/// other question words do.
Words hindi_sentence(const Clause& clause, Parts& parts) {
  const Agreement agreement = verb_agreement(clause);
  const bool who = clause.mood == Mood::kWho;
  Words words;
  if (clause.mood == Mood::kYesNo) add(words, "kya");
  if (!who) add(words, std::move(parts.subject.hindi));
  for (Phrase* part : {&parts.time, &parts.place, &parts.object}) add(words, std::move(part->hindi));
  if (who) add(words, std::move(parts.subject.hindi));
  add(words, kQuestions[static_cast<size_t>(clause.mood)].hindi, parts.meant.question);
  if (clause.verb) add(words, clause.verb->before, parts.meant.verb);
  if (clause.negated) add(words, "nahin", parts.meant.negation);
  add(words, clause.verb ? hindi_verb(*clause.verb->hindi, clause.tense, agreement, parts.meant)
                         : hindi_be(clause.tense, agreement, parts.meant));
  return words;
}

Phrase say_complement(const Clause& clause, Meanings& meanings, Meaning preposition) {
  const Agreement subject = clause.subject.agreement();
  if (clause.adjective) {
    const Meaning meaning = meanings.fresh();
    return {{{std::string(clause.adjective->english), meaning}},
            {{std::string(form_of(clause.adjective->hindi, subject)), meaning}}};
  }
  if (!clause.object.spoken()) return {};
  const bool role = !clause.verb && !clause.subject.demonstrative;
  const Usage usage{object_case(clause), clause.subject.owner(), preposition, true, role};
  return say_noun_phrase(clause.object, role ? subject : clause.object.agreement(), usage, meanings);
}

Parts say_parts(const Clause& clause) {
  Meanings meanings;
  Parts parts;
  parts.meant = {meanings.fresh(), meanings.fresh(), meanings.fresh(), meanings.fresh(), meanings.fresh()};
  const Usage subject{.grammatical = ergative(clause) ? Case::kErgative : Case::kDirect};
  parts.subject = say_noun_phrase(clause.subject, clause.subject.agreement(), subject, meanings);
  parts.object = say_complement(clause, meanings, parts.meant.particle);
  parts.place = say_fixed(clause.place, meanings);
  parts.time = say_fixed(clause.time, meanings);
  return parts;
}

std::string joined(const Words& words) {
  std::string text;
  for (const Word& word : words) {
    if (!text.empty()) text += ' ';
    text += word.text;
  }
  return text;
}

Links linked(const Words& english, const Words& hindi) {
  Links links;
  for (size_t i = 0; i < english.size(); ++i)
    for (size_t j = 0; j < hindi.size(); ++j)
      if (english[i].meaning & hindi[j].meaning) links.push_back({static_cast<int32_t>(i), static_cast<int32_t>(j)});
  return links;
}

}  // namespace

Example say(const Clause& clause) {
  Parts parts = say_parts(clause);
  const Words english = english_sentence(clause, parts), hindi = hindi_sentence(clause, parts);
  return {joined(english), joined(hindi), linked(english, hindi)};
}

}  // namespace attend::data::hindi
