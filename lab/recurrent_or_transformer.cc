// recurrent-or-transformer: quality and speed by length, on one thread and on two.
#include <array>
#include <nlohmann/json.hpp>

#include "attend/explain/report_page.h"
#include "attend/kernels/parallel.h"
#include "lab/experiments.h"
#include "lab/measure.h"

namespace attend::lab {
namespace {

using explain::fixed;

constexpr std::array<int64_t, 5> kRivalLengths{10, 20, 40, 80, 160};

/// Runs `body` with so many threads, and as many as before afterwards.
template <class Body>
void with_threads(int count, Body&& body) {
  const int before = kernels::threads();
  kernels::set_threads(count);
  body();
  kernels::set_threads(before);
}

}  // namespace

std::vector<Run> rivals_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  const std::string common =
      quick ? "task=translate model.dropout=0 train.steps=300 valid_sentences=100" : "task=translate train.epochs=10";
  return {{"recurrent", common + (quick ? " model.embedding=32 model.hidden=64 train.rate=1e-2" : "")},
          {"Transformer",
           common + " model.name=transformer model.heads=4 model.label_smoothing=0" +
               (quick ? " model.size=32 model.hidden=64 model.encoder_layers=1 model.decoder_layers=1 train.rate=6e-3"
                      : " model.size=96 model.hidden=256 model.encoder_layers=2 model.decoder_layers=2 "
                        "model.dropout=0.1 train.rate=2e-3")}};
}

void rivals_report(const Results& results, Report& report) {
  report.set_up =
      "English sentences to romanised Hindi: a recurrent encoder-decoder with attention, and a Transformer of about as "
      "many "
      "parameters, both trained on the same sentences as often.";
  const std::vector<std::string> runs = results.runs(), scores{"exact", "bleu", "aer"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.plot("by-length", length_plot(results, runs, "exact", false, report.numbers),
              "Quality by the length of the sentence.");
  for (const int count : {1, 2}) {
    with_threads(count, [&] {
      const std::string threads = std::to_string(count) + (count == 1 ? " thread" : " threads");
      nlohmann::ordered_json numbers;
      explain::Plot plot = cost_plot(results, runs, kRivalLengths, numbers);
      plot.title += ", " + threads;
      report.numbers["threads"][std::to_string(count)] = numbers["milliseconds_per_token"];
      report.plot("cost-" + std::to_string(count), plot,
                  "Milliseconds for a word of an answer that is as long as its sentence, one sentence at a time, on " +
                      threads + ".");
    });
  }
  const auto& one = report.numbers["threads"]["1"];
  const auto growth = [&](const char* run) { return one[run]["160"].get<double>() / one[run]["10"].get<double>(); };
  report.check(
      "a word of the Transformer's answer takes the longer the longer the sentence is, more than a recurrent one's",
      growth("Transformer") > growth("recurrent"),
      fixed(growth("Transformer"), 2) + " times as long at 160 words as at 10, against " +
          fixed(growth("recurrent"), 2));
  if (!results.quick()) {
    const Estimate recurrent = results.score("recurrent", "exact"), transformer = results.score("Transformer", "exact");
    report.check("on so few and short sentences the recurrent network is as good",
                 recurrent.mean > transformer.mean - 1,
                 recurrent.text() + " against " + transformer.text() + " % exact");
    const Estimate slow = results.seconds("recurrent"), fast = results.seconds("Transformer");
    report.check("the Transformer, which sees all words of a sentence at once, trains in less time",
                 fast.mean < slow.mean, fast.text(0) + " against " + slow.text(0) + " s");
  }
  report.next = {{"attend compare multi30k-de-en-recurrent multi30k-de-en-transformer --out multi30k",
                  "The same on translations that people made (docs/results.md has the figures):"}};
}

}  // namespace attend::lab
