// coverage: words that are said twice or never, with and without a memory of what was read.
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "attend/explain/report_page.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;

std::map<std::string, int> counts_of(const std::string& text) {
  std::map<std::string, int> counts;
  std::istringstream in(text);
  for (std::string word; in >> word;) ++counts[word];
  return counts;
}

/// Words of answers that are said more often than in the reference, or less often, of a hundred of the reference.
struct Faults {
  double again = 0, never = 0;
};

Faults faults_of(const train::Judged& judged) {
  Faults faults;
  double words = 0;
  for (size_t i = 0; i < judged.outputs.size(); ++i) {
    std::map<std::string, int> difference = counts_of(judged.outputs[i]);
    for (const auto& [word, count] : counts_of(judged.right[i].at(0))) difference[word] -= count, words += count;
    for (const auto& [word, count] : difference) (count > 0 ? faults.again : faults.never) += std::abs(count);
  }
  return {100 * faults.again / words, 100 * faults.never / words};
}

}  // namespace

std::vector<Run> coverage_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  const std::string common =
      quick ? "task=reverse model.embedding=32 model.hidden=48 train.steps=250 train.rate=1e-2 search.beam=1 "
              "model.decoder.query=after"
            : "task=translate corpus=chains tokeniser.kind=words model.hidden=128 model.decoder.query=after "
              "train.epochs=8 train.rate=3e-3 batch.tokens=1200 search.beam=1";
  const std::string on = " model.attention.coverage=true model.coverage_penalty=1";
  return {{"off", common}, {"on", common + on}};
}

void coverage_report(const Results& results, Report& report) {
  const bool quick = results.quick();
  report.set_up =
      std::string(quick ? "Letters are said backwards"
                        : "English sentences joined by \"and\", up to 60 words, to romanised Hindi") +
      ", by two recurrent encoder-decoders with attention. One of them knows how much of each place it has read: the "
      "sum of its weights so far enters its score, and reading a place again costs (See et al. 2017).";
  Table table{.title = "Of a hundred words of the references", .head = {"Coverage", "said too often", "never said"}};
  Estimate again[2], never[2];
  for (const std::string& run : results.runs()) {
    const bool on = run == "on";
    const auto faults = [&](int64_t seed) { return faults_of(results.measured(run, seed).judged); };
    again[on] = results.over_seeds(run, [&](int64_t seed) { return faults(seed).again; });
    never[on] = results.over_seeds(run, [&](int64_t seed) { return faults(seed).never; });
    table.rows.push_back({run, again[on].text(2), never[on].text(2)});
    report.numbers["faults"][run] = {{"again", again[on].mean}, {"never", never[on].mean}};
  }
  report.check("with coverage fewer words are said too often", again[1].mean < again[0].mean,
               again[1].text(2) + " against " + again[0].text(2) + " of a hundred");
  report.check("and fewer are never said", never[1].mean < never[0].mean,
               never[1].text(2) + " against " + never[0].text(2));
  report.blocks.emplace_back(std::move(table));
  const std::vector<std::string> runs = results.runs();
  const std::vector<std::string> scores =
      quick ? std::vector<std::string>{"exact"} : std::vector<std::string>{"bleu", "exact", "aer"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.plot("by-length", length_plot(results, runs, quick ? "exact" : "bleu", quick, report.numbers),
              "By the length of the source.");
  report.next = {
      {"attend compare summarise --variant \"off\" --variant \"on: attention.coverage=true coverage_penalty=1\" --out "
       "summaries",
       "The same for headlines, where it was thought of:"}};
}

}  // namespace attend::lab
