// Scores of parsers: labelled brackets (PARSEVAL; Black et al. 1991), counted as the program evalb does with COLLINS.prm
// (Sekine & Collins 1997).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "attend/train/matches.h"

namespace attend::train {

struct BracketTotals {
  int64_t sentences = 0;
  int64_t failed = 0;   ///< of those: not a tree, or its words differ from the reference's after deletions
  int64_t skipped = 0;  ///< of those: no words
  Matches brackets;     ///< of all others, as everything below
  int64_t exact = 0;    ///< sentences with all brackets right
  int64_t crossing = 0, without_crossing = 0, with_two_at_most = 0;  ///< brackets that cross one; sentences
  int64_t words = 0, right_tags = 0;
  int64_t missed = 0;  ///< brackets of the references of failed and skipped sentences

  int64_t valid() const { return sentences - failed - skipped; }
  double precision() const { return brackets.precision(); }
  double recall() const { return brackets.recall(); }
  double f1() const { return brackets.f1(); }
  double exact_match() const { return Matches::share(exact, valid()); }
  double average_crossing() const { return Matches::share(crossing, valid()); }
  double tag_accuracy() const { return Matches::share(right_tags, words); }
  /// evalb leaves out failed and skipped sentences; here their brackets count as missed, so that a parser gains nothing
  /// from them.
  Matches strict() const { return {brackets.right, brackets.outputs, brackets.references + missed}; }
};

struct BracketScores {
  BracketTotals all;
  BracketTotals up_to_40;   ///< sentences of at most 40 words, punctuation included
  int64_t well_formed = 0;  ///< outputs that are trees over exactly the words of their references

  double well_formed_share() const { return Matches::share(well_formed, all.sentences); }
};

/// Both sides as bracketed text (data/tree.h); an empty output is skipped, and one that is not a tree has failed. Throws
/// Error for a reference that is not a tree, and unless there are as many outputs as references, and at least one.
///
/// COLLINS.prm: brackets and words under TOP, -NONE-, `,`, `:`, ``` `` ```, `''` and `.` are deleted, and so are brackets
/// without words; labels are cut at "-" and "="; ADVP and PRT are the same.
BracketScores bracket_scores(std::span<const std::string> outputs, std::span<const std::string> references);

}  // namespace attend::train
