// Scores: how good answers are. A row each, with its unit, its direction and what `attend eval` prints of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/train/bleu.h"

namespace attend::train {

/// Answers and, for each, all that would have been right, the reference first.
struct Judged {
  std::vector<std::string> outputs;
  std::vector<std::vector<std::string>> right;
  std::vector<std::string> sources = {};  ///< what each answers, where scores of copying are asked for; or none
  std::vector<std::string> groups = {};   ///< what kind of example each is; or none

  std::vector<std::string> references() const;
};

struct ScoreRow {
  std::string_view name;      ///< as logs of training have it: "bleu"
  std::string_view title;     ///< "BLEU"
  std::string_view unit;      ///< beside an axis: "BLEU", "exact match, %"
  std::string_view about;     ///< in a sentence, with the implementation that it equals
  int better;                 ///< 1: more is better, -1: less is
  /// Not a number where it does not apply to these answers.
  double (*score)(const Judged& judged);
  /// Adds it to a report, in detail; null: as "name": score.
  void (*report)(const Judged& judged, const BleuOptions& options, nlohmann::ordered_json& report) = nullptr;
};
std::span<const ScoreRow> scores();
/// Adds a row from outside the library.
void add_score_row(const ScoreRow& row);
const ScoreRow& score_named(std::string_view name);

/// All scores of these names as `attend eval` prints them. BLEU's options say for all of them whether case matters.
nlohmann::ordered_json report_of(std::span<const std::string_view> names, const Judged& judged,
                                 const BleuOptions& options);

}  // namespace attend::train
