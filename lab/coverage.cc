// coverage: words that are said twice or never, with and without a memory of what was read.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "attend/explain/report_page.h"
#include "attend/tasks/explanation.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;

constexpr const char *kCaptionsOff = "captions, off", *kCaptionsOn = "captions, on";

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

/// How unevenly a captioner reads an image: the standard deviation over cells of Σ_t α_t, as a share of their mean; the mean over
/// images of the test, each asked about its first caption.
double unevenness(const tasks::TaskModel& model, const tasks::Examples& examples, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const tasks::Example example = examples.at(i);
    const auto look = std::get<explain::ImageLook>(tasks::explain(model, example, {.target = example.right.at(0)}));
    const Tensor& weights = std::get<explain::CaptionLook>(look.seen).weights;
    const int64_t words = weights.dim(0), cells = weights.dim(1);
    double mean = 0, squares = 0;
    for (int64_t cell = 0; cell < cells; ++cell) {
      double read = 0;
      for (int64_t t = 0; t < words; ++t) read += static_cast<double>(weights[t].data()[cell]);
      mean += read / static_cast<double>(cells), squares += read * read / static_cast<double>(cells);
    }
    sum += std::sqrt(std::max(0.0, squares - mean * mean)) / mean;
  }
  return sum / static_cast<double>(count);
}

/// Doubly stochastic attention to images: weights that add up to one for each word, and are pushed to do so for each cell.
void report_captions(const Results& results, Report& report) {
  constexpr int64_t kImages = 100;
  const std::vector<std::string> runs{kCaptionsOff, kCaptionsOn}, scores{"bleu4", "exact"};
  report.text("Captions: every cell as often as the others",
              "Weights over the cells of an image add up to one for each word. Doubly stochastic attention (Xu et al. "
              "2015) pays a penalty, Σ (1 − Σ α)² over cells of the sums over words, so that every cell is read about "
              "as much. Two captioners of scenes of coloured shapes differ in that penalty alone. Unevenness is the "
              "standard deviation over cells of what was read of them, as a share of their mean.");
  Table table = score_table(results, runs, scores, report.numbers);
  table.head.push_back("Unevenness");
  std::vector<Estimate> uneven;
  for (const std::string& run : runs) {
    results.say(run + ": reading images");
    uneven.push_back(results.over_seeds(run, [&](int64_t seed) {
      return unevenness(results.model(run, seed), results.test(run, seed).examples, kImages);
    }));
    table.rows.at(uneven.size() - 1).push_back(uneven.back().text(2));
    report.numbers["unevenness"][run] = uneven.back().mean;
  }
  report.blocks.emplace_back(std::move(table));
  report.check("a doubly stochastic captioner reads the cells of an image more evenly", uneven[1].mean < uneven[0].mean,
               "unevenness " + uneven[1].text(2) + " against " + uneven[0].text(2));
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
  std::vector<Run> runs{{"off", common}, {"on", common + on}};
  if (quick) return runs;
  const std::string captions =
      "task=caption size=56 model.encoder.norm=none model.encoder.stages=8,16,16 model.hidden=64 model.embedding=24 "
      "train.epochs=3 model.doubly_stochastic=";
  runs.push_back({kCaptionsOff, captions + "0"});
  runs.push_back({kCaptionsOn, captions + "1"});
  return runs;
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
  const std::vector<std::string> runs{"off", "on"};
  for (const std::string& run : runs) {
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
  const std::vector<std::string> scores =
      quick ? std::vector<std::string>{"exact"} : std::vector<std::string>{"bleu", "exact", "aer"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.plot("by-length", length_plot(results, runs, quick ? "exact" : "bleu", quick, report.numbers),
              "By the length of the source.");
  if (!quick) report_captions(results, report);
  report.next = {
      {"attend compare summarise --variant \"off\" --variant \"on: attention.coverage=true coverage_penalty=1\" --out "
       "summaries",
       "The same for headlines, where it was thought of:"}};
}

}  // namespace attend::lab
