// memory: a recurrent network that attends to its own past against one that does not, by distance.
#include <nlohmann/json.hpp>

#include "attend/explain/report_page.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {
using explain::fixed;
}  // namespace

std::vector<Run> recall_runs(Scale scale) {
  const std::string common =
      "task=classify corpus=recall tokeniser.kind=words batch.tokens=1000 model.pooling=last "
      "model.encoder.bidirectional=false model.encoder.dropout=0 model.encoder.size=32 " +
      std::string(scale == Scale::quick ? "train.steps=120 train.rate=1e-2" : "train.epochs=6 train.rate=3e-3") +
      " model.encoder.kind=";
  std::vector<Run> runs{{"lstm", common + "recurrent model.encoder.cell=lstm"},
                        {"lstm that attends to its past", common + "intra"}};
  if (scale == Scale::full) runs.insert(runs.begin(), {"rnn", common + "recurrent model.encoder.cell=rnn"});
  return runs;
}

void recall_report(const Results& results, Report& report) {
  report.set_up =
      "A colour is named, followed by up to sixty other words; which colour was it? The networks read from left to "
      "right and answer "
      "from their last state: it has to carry the colour across all the words, or, where the network attends to its "
      "own past "
      "states, to find it again.";
  const std::vector<std::string> runs = results.runs();
  const auto groups = results.groups(false);
  const auto plain = results.by_length("lstm", "accuracy", groups, false);
  const auto attends = results.by_length("lstm that attends to its past", "accuracy", groups, false);
  report.check(
      "trained no longer, the one that attends to its past is right more often over the greatest distances",
      attends.back().mean > plain.back().mean + 1,
      fixed(attends.back().mean) + " against " + fixed(plain.back().mean) + " % (" + groups.back().text() + " words)");
  report.plot("by-distance", length_plot(results, runs, "accuracy", false, report.numbers),
              "The share of right answers by the length of the text.");
  report.live({.text = "Name a colour, then go on talking: move the length, and see who still knows it.",
               .runs = {runs.rbegin(), runs.rend()}});
  const std::vector<std::string> scores{"accuracy"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.plot("curves", curve_plot(results, runs, "accuracy"), "How they learned: validations of the first seed.");
  report.next = {
      {"attend explain DIR/models/lstm-that-attends-to-its-past \"red the rain falls on old roofs\" --site "
       "encoder.self --out past.html",
       "See what its states looked back at:"}};
}

}  // namespace attend::lab
