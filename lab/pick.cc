// pick-an-item: attention over raw inputs, with no encoder.
#include "attend/explain/report_page.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;

std::string settings_of(Scale scale, const std::string& corpus, bool encoder) {
  const std::string size = scale == Scale::quick ? "64" : "128";
  return "task=reverse corpus=" + corpus + " model.name=encoder_decoder model.decoder.size=" + size +
         " model.decoder.embedding=32 model.decoder.cell=gru model.attention.score=additive " +
         (encoder ? "model.encoder.kind=recurrent model.encoder.cell=gru model.encoder.size=" + size
                  : "model.encoder.kind=none model.encoder.size=" + size) +
         (scale == Scale::quick ? " train.steps=350 train.rate=1e-2" : " train.epochs=6");
}

}  // namespace

std::vector<Run> pick_runs(Scale scale) {
  std::vector<Run> runs{{"in order, no encoder", settings_of(scale, "sort", false)},
                        {"backwards, no encoder", settings_of(scale, "reverse", false)}};
  if (scale == Scale::quick) return runs;
  runs.push_back({"in order, an encoder", settings_of(scale, "sort", true)});
  runs.push_back({"backwards, an encoder", settings_of(scale, "reverse", true)});
  return runs;
}

void pick_report(const Results& results, Report& report) {
  report.set_up =
      "Up to 12 letters are given. Said in the order of the alphabet, the next letter is the one that comes after the "
      "last that "
      "was said, wherever it stands: it can be picked by what it is. Said backwards, it has to be found by where it "
      "stands. The "
      "decoder attends either to the letters themselves, each of them a vector without a place, or to what a recurrent "
      "encoder "
      "made of them.";
  const auto exact = [&](const std::string& run) { return results.score(run, "exact").mean; };
  const double sorted = exact("in order, no encoder"), reversed = exact("backwards, no encoder");
  report.check("items are picked by what they are, with no encoder", sorted > (results.quick() ? 30 : 90),
               fixed(sorted) + " % exact");
  report.check("items are not picked by where they stand, with no encoder", reversed < sorted / 2,
               fixed(reversed) + " % exact");
  if (!results.quick()) {
    const double encoded = exact("backwards, an encoder");
    report.check("an encoder tells where they stand", encoded > 80, fixed(encoded) + " % exact");
  }
  const std::vector<std::string> runs = results.runs(), scores{"exact", "chrf"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.live({.text = "Type some letters, and compare where they look: by what a letter is, or by where it stands.",
               .runs = runs,
               .longest = 20});
  report.plot("curves", curve_plot(results, runs, "exact"), "How they learned: validations of the first seed.");
  report.next = {{"attend explain DIR/models/in-order-no-encoder qdxa --out picked.html",
                  "See it pick one letter after the other:"}};
}

}  // namespace attend::lab
