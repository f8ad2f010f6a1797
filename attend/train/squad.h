// Exact match and F1 of answers to questions, as the official scripts of SQuAD compute them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend::train {

/// Rajpurkar et al. 2016 (evaluate-v1.1.py) and 2018 (evaluate-v2.0.py). They differ where nothing is left of an answer
/// but punctuation and articles: 1.1 gives F1 = 0 to two such answers, 2.0 gives 1 and leaves such references out.
enum class SquadScript { v1_1, v2_0 };

/// Lower case, without ASCII punctuation and the articles a, an, the; words with single blanks between them.
std::u32string squad_normalised(std::string_view answer);

struct SquadScore {
  double exact = 0, f1 = 0;  ///< 0 … 1 of one answer; sums of several
  int64_t total = 0;

  double exact_percent() const { return 100.0 * exact / static_cast<double>(total); }
  double f1_percent() const { return 100.0 * f1 / static_cast<double>(total); }
};

/// F1 of the words that answer and reference share (with how often they occur), the best over all references.
SquadScore squad_score(std::string_view output, std::span<const std::string> right, SquadScript script);

struct SquadScores {
  SquadScript script;
  SquadScore all, with_answer, without_answer;  ///< `without`: those whose reference is ""
};

/// "" stands for "no answer". By the script of 2.0 if there is such a reference, else by that of 1.1.
SquadScores squad_scores(std::span<const std::string> outputs, std::span<const std::vector<std::string>> right);

}  // namespace attend::train
