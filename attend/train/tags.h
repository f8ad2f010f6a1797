// Scores of taggers: by word, and by span for tags that mark spans (B-PER I-PER O). A line has the tags of a sentence,
// separated by white space.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "attend/train/matches.h"

namespace attend::train {

struct TagScores {
  int64_t words = 0, right = 0;
  int64_t sentences = 0, exact = 0;  ///< exact: every tag is right

  double accuracy() const { return Matches::share(right, words); }
};

/// Throws Error unless there are as many outputs as references, at least one, and as many tags in each.
TagScores tag_scores(std::span<const std::string> outputs, std::span<const std::string> references);

struct SpanScores {
  TagScores tags;
  Matches all;                           ///< over all types: micro average
  std::map<std::string, Matches> types;  ///< PER, LOC, …: those of either side
};

/// A span is correct if its type and both ends are. Spans are found as by seqeval's default, and conlleval before it
/// (Tjong Kim Sang & De Meulder 2003): B, I, E, S and O are known, and a span may begin with I if nothing of its type
/// precedes it.
SpanScores span_scores(std::span<const std::string> outputs, std::span<const std::string> references);

}  // namespace attend::train
