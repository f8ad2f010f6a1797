// Generated corpora: small tasks to train on without a download, each a pure function of its seed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/example.h"

namespace attend::data {

/// Sources are distinct, within and across the three parts.
struct BuiltinCorpus {
  std::vector<Example> train, valid, test;
};

struct BuiltinRow {
  std::string_view name, summary;
  BuiltinCorpus (*make)(uint64_t seed);
  std::string_view unit;         ///< how sources are best tokenised: "words", "characters" or "punctuated"
  std::string_view target_unit;  ///< the same for targets
  bool aligned = false;          ///< its links are gold alignments of words, and each example has some
};

std::span<const BuiltinRow> builtin_corpora();
/// Adds a row from outside the library, whose strings must outlive the program's use of it.
void add_builtin(const BuiltinRow& row);
/// Throws Error, suggesting the nearest name, if there is no such corpus.
BuiltinCorpus make_builtin(std::string_view name, uint64_t seed);

/// English to romanised Hindi, from our own grammar (builtin_hindi.cc states its conventions); with gold links.
BuiltinCorpus make_hindi(uint64_t seed);
/// The other way round: romanised Hindi to English, of sentences whose Hindi says all of it; with gold links.
BuiltinCorpus make_english(uint64_t seed);
/// Sentences of that grammar joined by "and", up to sixty words, as many of every length; with gold links.
BuiltinCorpus make_chains(uint64_t seed);
/// Dates as people write them to ISO 8601.
BuiltinCorpus make_dates(uint64_t seed);
/// Strings of letters to the same letters reversed.
BuiltinCorpus make_reverse(uint64_t seed);
/// Letters, none of them twice, to the same letters from a to z.
BuiltinCorpus make_sort(uint64_t seed);
/// "11-785 is harder than 10-107" to "11-785": exchanged, the same words have another answer.
BuiltinCorpus make_courses(uint64_t seed);
/// A colour and up to sixty other words to the colour.
BuiltinCorpus make_recall(uint64_t seed);
/// "b=3,d? d=5,b?" to "5 3": each word says a fact and asks for another one, which stands anywhere or nowhere ("none") …
BuiltinCorpus make_lookup(uint64_t seed);
/// … or always two places before it.
BuiltinCorpus make_lookback(uint64_t seed);
/// Short reviews to "positive", "negative" or "mixed"; gold links mark the words that decide the label.
BuiltinCorpus make_feelings(uint64_t seed);
/// English sentences to the parts of speech of their words; held-out ones have inflected forms not seen in training.
BuiltinCorpus make_tags(uint64_t seed);
/// News to tags (BIO) of people, places and organisations; held-out ones have names not seen in training.
BuiltinCorpus make_names(uint64_t seed);
/// English sentences to their trees, bracketed (tree.h).
BuiltinCorpus make_trees(uint64_t seed);
/// Invented words to their phonemes, by spelling rules of our own.
BuiltinCorpus make_letters(uint64_t seed);
/// Small stories with a question each (`further`), to one word of the story; with its place and the sentences that
/// support it, and the kind of question as `group`. Held-out stories are about people whose names training has not.
BuiltinCorpus make_stories(uint64_t seed);
/// News in a few sentences to their headlines; held-out ones are about people, places and firms that training has not.
BuiltinCorpus make_headlines(uint64_t seed);

/// The pronunciations of a word of letters a to z by the rules of make_letters, the usual one first. Throws Error for
/// any other word.
std::vector<std::string> letter_pronunciations(std::string_view spelling);

/// Every way the Hindi grammar derives this English sentence, each with its links; empty if it does not.
std::vector<Example> hindi_derivations(std::string_view english);

}  // namespace attend::data
