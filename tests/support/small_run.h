// A corpus and a network so small that a whole training takes a fraction of a second.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/command.h"
#include "tests/support/folder.h"

namespace attend::test {

inline std::string in_quotes(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

/// Pairs of a few words: "a b c" → "C B A".
inline std::string small_corpus(int pairs = 60) {
  std::string text;
  for (int i = 0; i < pairs; ++i) {
    const char first = static_cast<char>('a' + i % 5), second = static_cast<char>('a' + i / 5 % 5);
    const char big_first = static_cast<char>(first - 'a' + 'A'), big_second = static_cast<char>(second - 'a' + 'A');
    text += std::string{first, ' ', second} + "\t" + std::string{big_second, ' ', big_first} + "\n";
  }
  return text;
}

/// A recipe for it; more lines may follow.
inline std::string small_recipe(const std::filesystem::path& tsv, int steps) {
  return "tsv: \"" + tsv.string() + "\"\nheld_out: 0.2\ntokeniser: {kind: words}\nbatch: {tokens: 30}\n" +
         "model: {name: recurrent, embedding: 6, hidden: 8, dropout: 0.1}\ntrain: {steps: " + std::to_string(steps) +
         ", rate: 0.02, validate_every: 20}\n";
}

}  // namespace attend::test
