// depth: Transformers of one to six blocks, with and without residuals and norms.
#include <nlohmann/json.hpp>

#include "attend/explain/report_page.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;

std::string blocks(int64_t count) { return std::to_string(count) + (count == 1 ? " block" : " blocks"); }

}  // namespace

std::vector<Run> depth_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  const std::string common =
      "task=translate model.name=transformer model.heads=4 model.label_smoothing=0 " +
      std::string(
          quick ? "model.size=32 model.hidden=64 model.dropout=0 train.steps=350 train.rate=6e-3 valid_sentences=100"
                : "model.size=64 model.hidden=256 model.dropout=0.1 train.epochs=8 train.rate=2e-3");
  const auto of_depth = [&](int64_t count) {
    return common + " model.encoder_layers=" + std::to_string(count) + " model.decoder_layers=" + std::to_string(count);
  };
  if (quick) return {{blocks(3), of_depth(3)}, {blocks(3) + ", no residuals", of_depth(3) + " model.residual=false"}};
  std::vector<Run> runs;
  for (const int64_t count : {1, 2, 3, 4, 5, 6}) runs.push_back({blocks(count), of_depth(count)});
  for (const int64_t count : {2, 6}) {
    runs.push_back({blocks(count) + ", norms behind", of_depth(count) + " model.norm=post"});
    runs.push_back({blocks(count) + ", no norms", of_depth(count) + " model.norm=none"});
    runs.push_back({blocks(count) + ", no residuals", of_depth(count) + " model.residual=false"});
  }
  return runs;
}

void depth_report(const Results& results, Report& report) {
  report.set_up =
      "English sentences to romanised Hindi, by small Transformers with as many blocks in the decoder as in the "
      "encoder. A block "
      "adds what each of its parts says to what it read (a residual) and normalises before each part, unless it is "
      "said otherwise.";
  const auto exact = [&](const std::string& run) { return results.score(run, "exact").mean; };
  const auto bleu = [&](const std::string& run) { return results.score(run, "bleu").mean; };
  const int64_t deep = results.quick() ? 3 : 6;
  const double whole = bleu(blocks(deep)), bare = bleu(blocks(deep) + ", no residuals");
  report.check("without residuals " + blocks(deep) + " learn far less", whole > bare + 5,
               "BLEU " + fixed(bare) + " against " + fixed(whole));
  if (!results.quick()) {
    const double exact_whole = exact(blocks(6));
    report.check("two blocks are better than one", exact(blocks(2)) > exact(blocks(1)),
                 fixed(exact(blocks(2))) + " against " + fixed(exact(blocks(1))) + " % exact");
    const double without = exact(blocks(6) + ", no norms");
    report.check("six blocks need their norms", exact_whole > without + 1,
                 fixed(without) + " without against " + fixed(exact_whole) + " % exact");
    const double shallow = bleu(blocks(2)) - bleu(blocks(2) + ", no residuals");
    report.check("the deeper, the more a residual matters", whole - bare > shallow,
                 fixed(whole - bare) + " BLEU at six blocks, " + fixed(shallow) + " at two");
  }
  const std::vector<std::string> runs = results.runs(), scores{"exact", "bleu"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.plot("curves", curve_plot(results, runs, "exact"), "How they learned: validations of the first seed.");
  report.next = {
      {"attend compare translate --vary model.name=transformer --vary norm=pre,post --vary train.warmup=0,400 --out "
       "norms",
       "Norms behind each part need a slow start; see how slow:"}};
}

}  // namespace attend::lab
