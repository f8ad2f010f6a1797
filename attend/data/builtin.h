// Corpora that are made, not read: small tasks to train on without a download, each a pure function of its seed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/alignment.h"

namespace attend::data {

/// One pair, with its gold word alignment (by white space) where the corpus has one.
struct Example {
  std::string source, target;
  Links links;
};

/// Sources are distinct, within and across the three parts.
struct BuiltinCorpus {
  std::vector<Example> train, valid, test;
};

struct BuiltinRow {
  std::string_view name, summary;
  BuiltinCorpus (*make)(uint64_t seed);
  std::string_view unit;  ///< "words" or "characters": how it is best tokenised
};

std::span<const BuiltinRow> builtin_corpora();
/// Throws Error with the nearest name where there is no such corpus.
BuiltinCorpus make_builtin(std::string_view name, uint64_t seed);

/// English to romanised Hindi, from a grammar of our own (builtin_hindi.cc states its conventions); with gold links.
BuiltinCorpus make_hindi(uint64_t seed);
/// Dates as people write them to ISO 8601.
BuiltinCorpus make_dates(uint64_t seed);
/// Strings of letters to the same letters backwards.
BuiltinCorpus make_reverse(uint64_t seed);

/// All ways in which the Hindi grammar derives this English sentence, each with its links; empty where it does not.
std::vector<Example> hindi_derivations(std::string_view english);

}  // namespace attend::data
