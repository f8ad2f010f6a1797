// windows: Luong et al.'s table in shape: scores by windows.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "attend/explain/report_page.h"
#include "lab/experiments.h"
#include "lab/measure.h"

namespace attend::lab {
namespace {

using explain::fixed;

constexpr std::string_view kWindows[] = {"none", "local_m", "local_p"};
constexpr std::array<int64_t, 5> kWindowLengths{20, 40, 80, 160, 320};

std::string name_of_run(std::string_view score, std::string_view window) {
  return std::string(score) + ", " + (window == "none" ? "global" : std::string(window));
}

std::vector<std::string_view> scores_of(bool quick) {
  if (quick) return {"general"};
  return {"dot", "general", "concat"};
}

std::string against(const Estimate& a, const Estimate& b) { return a.text() + " against " + b.text(); }

/// Whether a difference of means is more than two of its standard errors; of one seed, more than a point.
bool clearly_more(const Estimate& a, const Estimate& b) {
  const double error = std::sqrt(a.error * a.error + b.error * b.error);
  return a.mean - b.mean > (a.count > 1 ? 2 * error : 1);
}

/// Score × window, of one number.
Table grid_of(const Results& results, const std::string& score, const std::string& title, int digits) {
  Table table{.title = title, .head = {"Score", "global", "local_m", "local_p"}};
  for (const std::string_view row : scores_of(results.quick())) {
    table.rows.push_back({std::string(row)});
    for (const std::string_view window : kWindows) {
      table.rows.back().push_back(results.score(name_of_run(row, window), score).text(digits));
    }
  }
  return table;
}

}  // namespace

std::vector<Run> windows_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  const std::string common = quick
                                 ? "task=translate model.embedding=32 model.hidden=64 model.dropout=0 train.steps=300 "
                                   "train.rate=1e-2 valid_sentences=100"
                                 : "task=translate model.embedding=48 model.hidden=64 train.epochs=5";
  std::vector<Run> runs;
  for (const std::string_view score : scores_of(quick)) {
    for (const std::string_view window : kWindows) {
      std::string settings =
          common + " model.attention.score=" + std::string(score) + " model.attention.window=" + std::string(window);
      if (window != "none") settings += " model.attention.width=2";
      runs.push_back({name_of_run(score, window), settings});
    }
  }
  return runs;
}

void windows_report(const Results& results, Report& report) {
  report.set_up =
      "English sentences of 2 to 14 words to romanised Hindi with known word alignments; Hindi has its verb last, so "
      "that places "
      "do not correspond. A window reaches two words to each side of its centre: of the word with the number of the "
      "one that is "
      "said (local_m), or of a place that the query predicts (local_p). The scores and windows are those of Luong et "
      "al. 2015, "
      "table 4, whose sentences had up to 50 words of English and German, and whose windows reached ten.";
  const std::vector<std::string> runs = results.runs();
  report.blocks.emplace_back(grid_of(results, "bleu", "BLEU", 1));
  report.blocks.emplace_back(grid_of(results, "exact", "Exact, %", 1));
  report.blocks.emplace_back(grid_of(results, "aer", "Alignment error rate", 3));
  const std::vector<std::string> scores{"bleu", "exact", "aer"};
  score_table(results, runs, scores, report.numbers);
  for (const std::string_view score : scores_of(results.quick())) {
    const auto bleu = [&](const char* window) { return results.score(name_of_run(score, window), "bleu"); };
    report.check(std::string(score) + ": a window at a predicted place is better than one at the same place",
                 clearly_more(bleu("local_p"), bleu("local_m")), "BLEU " + against(bleu("local_p"), bleu("local_m")));
    if (results.quick()) continue;
    report.check(std::string(score) + ": a window at a predicted place is better than none, as Luong et al. found",
                 clearly_more(bleu("local_p"), bleu("none")), "BLEU " + against(bleu("local_p"), bleu("none")));
  }
  if (!results.quick()) {
    const std::vector<std::string> timed{name_of_run("general", "none"), name_of_run("general", "local_m"),
                                         name_of_run("general", "local_p")};
    report.plot("cost", cost_plot(results, timed, kWindowLengths, report.numbers),
                "Milliseconds for a word of the answer by the length of the sentence; one sentence at a time.");
  }
  report.next = {
      {"attend compare translate --vary attention.window=none,local_p --vary attention.width=1,2,4 --out width",
       "How wide should a window be?"}};
}

}  // namespace attend::lab
