#include "attend/train/rouge.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/unicode.h"
#include "attend/train/ngrams.h"
#include "attend/train/porter.h"

namespace attend::train {
namespace {

using Words = std::vector<std::string>;

double share_of(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(whole, 1));
}

RougeScore rouge_from(int64_t shared, int64_t outputs, int64_t references) {
  RougeScore score{share_of(shared, outputs), share_of(shared, references)};
  const double sum = score.precision + score.recall;
  if (sum > 0) score.f1 = 2 * score.precision * score.recall / sum;
  return score;
}

/// Length of the longest common subsequence, with one row of its table in memory.
int64_t longest_common(const Words& a, const Words& b) {
  std::vector<int64_t> row(b.size() + 1, 0);
  for (const std::string& word : a) {
    int64_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t above = row[j];
      row[j] = word == b[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

RougeScores rouge_of_words(const Words& output, const Words& reference) {
  const Ngrams<std::string> said(output, 2), right(reference, 2);
  const auto by_ngrams = [&](size_t n) { return rouge_from(said.shared(right, n), said.count(n), right.count(n)); };
  return {by_ngrams(1), by_ngrams(2),
          rouge_from(longest_common(output, reference), static_cast<int64_t>(output.size()),
                     static_cast<int64_t>(reference.size()))};
}

}  // namespace

std::vector<std::string> rouge_words(std::string_view text, bool stems) {
  Words words;
  bool within = false;
  for (const char32_t c : data::lower_case(data::code_points("summary", text))) {
    const bool kept = (c >= U'a' && c <= U'z') || (c >= U'0' && c <= U'9');
    if (kept && !within) words.emplace_back();
    if (kept) words.back() += static_cast<char>(c);
    within = kept;
  }
  if (stems) {
    for (std::string& word : words) {
      if (word.size() > 3) word = porter_stem(word);
    }
  }
  return words;
}

RougeScores rouge_of(std::string_view output, std::span<const std::string> right, bool stems) {
  const Words said = rouge_words(output, stems);
  RougeScores best;
  for (size_t i = 0; i < right.size(); ++i) {
    const RougeScores scores = rouge_of_words(said, rouge_words(right[i], stems));
    for (size_t kind = 0; kind < best.size(); ++kind) {
      if (i == 0 || scores[kind].f1 > best[kind].f1) best[kind] = scores[kind];
    }
  }
  return best;
}

RougeScores rouge_scores(std::span<const std::string> outputs, std::span<const std::vector<std::string>> right,
                         bool stems) {
  require(!outputs.empty() && outputs.size() == right.size(),
          "rouge: expected as many references as outputs and at least one, got ", right.size(), " and ",
          outputs.size());
  RougeScores mean;
  const auto count = static_cast<double>(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const RougeScores scores = rouge_of(outputs[i], right[i], stems);
    for (size_t kind = 0; kind < mean.size(); ++kind) {
      mean[kind].precision += scores[kind].precision / count;
      mean[kind].recall += scores[kind].recall / count;
      mean[kind].f1 += scores[kind].f1 / count;
    }
  }
  return mean;
}

}  // namespace attend::train
