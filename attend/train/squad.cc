#include "attend/train/squad.h"

#include <algorithm>
#include <iterator>

#include "attend/base/error.h"
#include "attend/data/unicode.h"

namespace attend::train {
namespace {

/// Python's string.punctuation.
bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// \b(a|an|the)\b → " ", where words are runs of letters and digits (str.isalnum) and combining marks are not.
std::u32string without_articles(std::u32string_view text) {
  std::u32string kept;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && data::is_letter_or_digit(text[end])) ++end;
    const std::u32string_view word = text.substr(begin, end - begin);
    if (word == U"a" || word == U"an" || word == U"the") {
      kept += U' ';
    } else {
      kept += word;
    }
    if (end < text.size()) kept += text[end];
    begin = end + 1;
  }
  return kept;
}

std::vector<std::u32string_view> sorted_words(std::u32string_view text) {
  std::vector<std::u32string_view> words = data::split_at_blanks(text);
  std::ranges::sort(words);
  return words;
}

double words_f1(std::u32string_view output, std::u32string_view reference, SquadScript script) {
  const std::vector<std::u32string_view> said = sorted_words(output), right = sorted_words(reference);
  if (script == SquadScript::v2_0 && (said.empty() || right.empty())) return said.empty() && right.empty() ? 1 : 0;
  std::vector<std::u32string_view> common;
  std::ranges::set_intersection(said, right, std::back_inserter(common));
  if (common.empty()) return 0;
  const auto same = static_cast<double>(common.size());
  const double precision = same / static_cast<double>(said.size()), recall = same / static_cast<double>(right.size());
  return 2 * precision * recall / (precision + recall);
}

void add(SquadScore& sum, const SquadScore& one) {
  sum.exact += one.exact, sum.f1 += one.f1, sum.total += one.total;
}

}  // namespace

std::u32string squad_normalised(std::string_view answer) {
  std::u32string text = data::lower_case(data::code_points("answer", answer));
  std::erase_if(text, is_ascii_punctuation);
  text = without_articles(text);
  std::u32string spaced;
  for (const std::u32string_view word : data::split_at_blanks(text)) {
    if (!spaced.empty()) spaced += U' ';
    spaced += word;
  }
  return spaced;
}

SquadScore squad_score(std::string_view output, std::span<const std::string> right, SquadScript script) {
  const std::u32string said = squad_normalised(output);
  std::vector<std::u32string> references;
  for (const std::string& one : right) references.push_back(squad_normalised(one));
  if (script == SquadScript::v2_0) {
    std::erase(references, U"");
    if (references.empty()) references.emplace_back();
  }
  SquadScore best{.total = 1};
  for (const std::u32string& one : references) {
    best.exact = std::max(best.exact, said == one ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, words_f1(said, one, script));
  }
  return best;
}

SquadScores squad_scores(std::span<const std::string> outputs, std::span<const std::vector<std::string>> right) {
  require(outputs.size() == right.size(), "squad: expected as many right answers as outputs, got ", right.size(),
          " and ", outputs.size());
  const auto without = [](const std::vector<std::string>& one) { return one.at(0).empty(); };
  SquadScores scores{.script = std::ranges::any_of(right, without) ? SquadScript::v2_0 : SquadScript::v1_1};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const SquadScore one = squad_score(outputs[i], right[i], scores.script);
    add(scores.all, one);
    add(without(right[i]) ? scores.without_answer : scores.with_answer, one);
  }
  return scores;
}

}  // namespace attend::train
