// told: ways of telling a recurrent decoder of its input; letters to the same letters backwards.
#include <algorithm>
#include <array>
#include <iterator>

#include "attend/explain/report_page.h"
#include "lab/experiments.h"
#include "lab/measure.h"

namespace attend::lab {
namespace {

using explain::fixed;

constexpr std::string_view kOneVector[] = {"initial_state", "bridge", "first_step", "every_step"};
constexpr std::array<int64_t, 5> kToldLengths{10, 20, 40, 80, 160};

}  // namespace

std::vector<Run> told_runs(Scale scale) {
  if (scale == Scale::quick) {
    const std::string common =
        "task=reverse model.embedding=32 model.hidden=64 train.steps=350 train.rate=1e-2 model.decoder.input=";
    return {{"bridge", common + "bridge"}, {"attention", common + "attention"}};
  }
  const std::string common = "task=reverse train.epochs=6 model.decoder.input=";
  std::vector<Run> runs;
  for (const std::string_view way : kOneVector) runs.push_back({std::string(way), common + std::string(way)});
  for (const char* way : {"reread", "attention"}) runs.push_back({way, common + way});
  return runs;
}

void told_report(const Results& results, Report& report) {
  report.set_up =
      "Strings of 2 to 12 letters are to be said backwards; 20,000 to learn from, 1,000 others to be scored by. All "
      "models are "
      "recurrent encoder-decoders of gated units, which differ in nothing but how the decoder is told of its input: by "
      "the "
      "encoder's last state (as its own first state, at its first step, at every step), by reading the input again for "
      "every "
      "letter that it says, or by attention.";
  const std::vector<std::string> runs = results.runs();
  const double attention = results.score("attention", "exact").mean;
  for (const std::string& run : runs) {
    if (run == "attention" || run == "reread") continue;
    const double one = results.score(run, "exact").mean;
    report.check("attention is right more often than one vector (" + run + ")", attention > one + 5,
                 fixed(attention) + " against " + fixed(one) + " %");
  }
  report.plot("by-length", length_plot(results, runs, "exact", true, report.numbers),
              "The share of strings said backwards without a mistake, by how long they are.");
  std::vector<std::string> tried{"bridge", "attention"};
  std::ranges::copy_if(runs, std::back_inserter(tried),
                       [](const std::string& run) { return run != "bridge" && run != "attention"; });
  report.live({.text =
                   "Move the length, beyond the 12 letters of training too, and see which of them can no longer say it "
                   "backwards. Of a model that does not attend, the map shows what its answer depends on.",
               .runs = tried,
               .longest = 40});
  const std::vector<std::string> scores{"exact", "chrf"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.text(
      "What it costs",
      "One vector costs the same however long the input was. Attention adds a weighted mean over the input to each "
      "letter; reading again adds a recurrent pass over it.");
  explain::Plot cost = cost_plot(results, runs, kToldLengths, report.numbers);
  cost.log_x = cost.log_y = true;
  report.plot("cost", cost,
              "Milliseconds for a letter of the answer, by the length of the input, on both axes by ratios; one string "
              "at a time.");
  if (!results.quick()) {
    const auto& of = report.numbers["milliseconds_per_token"];
    const double reread = of["reread"]["160"], attended = of["attention"]["160"], vector = of["bridge"]["160"];
    report.check(
        "at 160 letters, reading again costs more than twice what attention costs", reread > 2 * attended,
        fixed(reread, 2) + " against " + fixed(attended, 2) + " ms a letter (one vector: " + fixed(vector, 2) + ")");
  }
  report.next = {{"attend explain DIR/models/attention noitnetta --out looked.html",
                  "See where the attending model looks while it says a string backwards:"},
                 {"attend compare translate --vary decoder.input=bridge,reread,attention --out told-hindi",
                  "The same choice for translation:"}};
}

}  // namespace attend::lab
