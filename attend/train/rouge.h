// ROUGE (Lin 2004): n-grams and subsequences of words that a summary shares with its references, as Google's rouge-score
// computes them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend::train {

struct RougeScore {
  double precision = 0, recall = 0, f1 = 0;  ///< 0 … 1
};

/// The kinds of ROUGE: single words, pairs of words, the longest common subsequence.
inline constexpr std::array<std::string_view, 3> kRougeNames = {"rouge1", "rouge2", "rougeL"};
using RougeScores = std::array<RougeScore, kRougeNames.size()>;

/// Runs of a to z and 0 to 9 in the lower-case text; with stems (porter.h) of those longer than three letters.
std::vector<std::string> rouge_words(std::string_view text, bool stems);

/// Of one summary; each kind by the reference with the greatest F1.
RougeScores rouge_of(std::string_view output, std::span<const std::string> right, bool stems);
/// The mean over all.
RougeScores rouge_scores(std::span<const std::string> outputs, std::span<const std::vector<std::string>> right,
                         bool stems);

}  // namespace attend::train
