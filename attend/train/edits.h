// Error rates by edit distance: of phonemes, words, or any tokens separated by white space.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/train/matches.h"

namespace attend::train {

struct EditScores {
  int64_t substitutions = 0, insertions = 0, deletions = 0;
  int64_t tokens = 0;            ///< of the references
  int64_t lines = 0, wrong = 0;  ///< wrong: not equal to its reference

  int64_t edits() const { return substitutions + insertions + deletions; }
  /// Phoneme (or word) error rate: edits/tokens; may exceed 1. Without any token, the number of edits, as in jiwer.
  double error_rate() const { return tokens == 0 ? static_cast<double>(edits()) : Matches::share(edits(), tokens); }
  /// The share of lines that are wrong: of pronunciations, the word error rate.
  double wrong_rate() const { return Matches::share(wrong, lines); }
};

/// Fewest edits from reference to output (Levenshtein 1966), summed over lines. If several edit paths are equally
/// short, kinds of edits are counted as in jiwer 4 (RapidFuzz 3; equal for lines up to some thousand tokens, beyond
/// which it changes its method). Throws Error unless there are as many outputs as references, and at least one.
EditScores edit_scores(std::span<const std::string> outputs, std::span<const std::string> references);
/// With at least one reference per output: the nearest counts, ties in favour of the first.
EditScores edit_scores(std::span<const std::string> outputs, std::span<const std::vector<std::string>> references);

}  // namespace attend::train
