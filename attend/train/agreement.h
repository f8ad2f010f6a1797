// How far outputs and word alignments agree with their references.
#pragma once

#include <span>
#include <string>

#include "attend/data/alignment.h"

namespace attend::train {

/// The share of outputs equal to their reference, in percent, ignoring blanks at the ends of lines. Throws Error unless
/// there are as many outputs as references, and at least one.
double exact_match(std::span<const std::string> outputs, std::span<const std::string> references,
                   bool lowercase = false);

/// Links A against sure links S and possible links P ⊇ S (Och & Ney 2003, section 5).
struct AlignmentScore {
  double error_rate = 0;  ///< AER: 1 − (|A∩S| + |A∩P|)/(|A| + |S|); 0 if there are neither
  double precision = 1;   ///< |A∩P|/|A|; 1 if A is empty
  double recall = 1;      ///< |A∩S|/|S|; 1 if S is empty
};

/// Counted over all sentences. `possible` need not repeat the sure links, and may be empty: P = S. A duplicate link
/// counts once. Throws Error unless there are as many of each as there are sentences.
AlignmentScore alignment_score(std::span<const data::Links> links, std::span<const data::Links> sure,
                               std::span<const data::Links> possible = {});

}  // namespace attend::train
