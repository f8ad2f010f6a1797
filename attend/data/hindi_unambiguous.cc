#include "attend/data/hindi_unambiguous.h"

namespace attend::data::hindi {
namespace {

bool is_ergative(const Clause& clause) {
  const bool perfective = clause.tense == Tense::kPast || clause.tense == Tense::kPerfect;
  return clause.verb && clause.verb->ergative && perfective;
}

/// Whether a woman can be told from a man by something that agrees with the subject.
bool shows_gender(const Clause& clause) {
  if (clause.verb) return !is_ergative(clause);
  if (clause.tense != Tense::kProgressive) return true;
  if (clause.adjective) return clause.adjective->hindi.masculine != clause.adjective->hindi.feminine;
  const NounPhrase& role = clause.object;
  if (!role.noun) return false;
  const bool by_adjective = role.adjective && role.adjective->hindi.masculine != role.adjective->hindi.feminine;
  return by_adjective || role.determiner->owner != Owner::kNobody;
}

bool is_counted(const NounPhrase& phrase) {
  return phrase.determiner->english == "two" || phrase.determiner->english == "three";
}

/// `role`: what somebody is, by which nothing tells "the" from "a".
bool has_usual_article(const NounPhrase& phrase, bool role) {
  const Text article = phrase.determiner->english;
  if (article != "" && article != "the") return true;
  if (role) return article == "";
  const bool substance = phrase.noun->plural.empty() && !(phrase.noun->kinds & kElder);
  return (article == "") == substance;
}

bool is_usual(const NounPhrase& phrase, Owner subject, bool role) {
  if (!phrase.noun || !phrase.determiner) return true;
  const Owner owner = phrase.determiner->owner;
  const bool hers = owner == Owner::kShe && subject != Owner::kShe;
  const bool one_form = phrase.plural && phrase.noun->direct == phrase.noun->direct_plural;
  return !hers && (!one_form || is_counted(phrase)) && has_usual_article(phrase, role);
}

}  // namespace

bool is_usual_reading(const Clause& clause) {
  const NounPhrase &subject = clause.subject, &object = clause.object;
  if (subject.owner() == Owner::kShe && subject.pronoun && !shows_gender(clause)) return false;
  if (object.pronoun && object.pronoun->owner == Owner::kShe) return false;
  if (subject.demonstrative && object.noun && object.noun->kinds & kPeople) return false;
  const bool seen = clause.verb && clause.verb->english.base == "see";
  if (seen && (!object.spoken() || (object.noun && object.noun->kinds & kBird))) return false;
  const bool role = !clause.verb && object.noun && !subject.demonstrative;
  return is_usual(subject, Owner::kNobody, false) && is_usual(object, subject.owner(), role);
}

}  // namespace attend::data::hindi
