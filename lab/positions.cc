// positions: what a Transformer knows of the order of its words.
#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/base/random.h"
#include "attend/explain/grid.h"
#include "attend/explain/heatmap.h"
#include "attend/explain/report_page.h"
#include "lab/experiments.h"
#include "lab/measure.h"

namespace attend::lab {
namespace {

using explain::fixed;

constexpr std::string_view kPositions[] = {"none", "sinusoidal", "learned"};

std::string network(bool quick, std::string_view positions) {
  const std::string size = quick ? "size=32 model.hidden=64" : "size=64 model.hidden=128";
  return " model.name=transformer model.heads=4 model.dropout=0 model.label_smoothing=0 model.encoder_layers=" +
         std::string(quick ? "1 model.decoder_layers=1" : "2 model.decoder_layers=2") + " model." + size +
         " model.positions=" + std::string(positions);
}

/// "11-785 is harder than 10-707" → "10-707 is harder than 11-785".
std::string exchanged(const std::string& text) {
  const size_t first = text.find(' '), last = text.rfind(' ');
  return text.substr(last + 1) + text.substr(first, last - first) + " " + text.substr(0, first);
}

/// The share of questions, in percent, that have the same answer when their two courses are exchanged.
double same_answer(const tasks::TaskModel& model, const tasks::Examples& examples) {
  std::vector<tasks::Example> both;
  for (int64_t i = 0; i < examples.count; ++i) {
    const std::string text = examples.at(i).text();
    both.push_back({.inputs = {text}}), both.push_back({.inputs = {exchanged(text)}});
  }
  const auto answers = model.answer(both, {.search = {.beam = 1}});
  int64_t same = 0;
  for (size_t i = 0; i < answers.size(); i += 2) same += answers[i].at(0).text == answers[i + 1].at(0).text;
  return 100.0 * static_cast<double>(same) / static_cast<double>(examples.count);
}

std::string letters_of(Random& random, int64_t length) {
  std::string letters(static_cast<size_t>(length), ' ');
  for (char& letter : letters) letter = static_cast<char>('a' + random.below(26));
  return letters;
}

std::vector<Asked> strings_of_length(int64_t length) {
  constexpr int kStrings = 100;
  Random random(static_cast<uint64_t>(length));
  std::vector<Asked> asked;
  for (int i = 0; i < kStrings; ++i) {
    const std::string letters = letters_of(random, length);
    asked.push_back({letters, {letters.rbegin(), letters.rend()}});
  }
  return asked;
}

/// p[t][2i] = sin(t/10000^(2i/D)), p[t][2i+1] = cos of the same (Vaswani et al. 2017, section 3.5).
std::string picture_of_sinusoids() {
  constexpr int64_t kPlaces = 40, kSize = 32;
  explain::Grid grid{
      .values = Tensor(Shape({kPlaces, kSize})), .look = {.is_signed = true, .most = 1}, .label = "sinusoids"};
  for (int64_t t = 0; t < kPlaces; ++t) {
    grid.rows.push_back(std::to_string(t));
    for (int64_t i = 0; i < kSize; ++i) {
      const double angle = static_cast<double>(t) / std::pow(10000.0, static_cast<double>(i / 2 * 2) / kSize);
      grid.values.data()[t * kSize + i] = static_cast<real>(i % 2 ? std::cos(angle) : std::sin(angle));
    }
  }
  for (int64_t i = 0; i < kSize; ++i) grid.columns.push_back(std::to_string(i));
  return explain::svg_heatmap(grid);
}

void report_lengths(const Results& results, Report& report) {
  explain::Plot plot{.title = "Letters said backwards, learned from strings of 2 to 12",
                     .x_label = "letters",
                     .y_label = "exact match, %",
                     .series = {},
                     .bounds = {{0, 100}}};
  double seen = 0, unseen = 0;
  for (const std::string_view positions : kPositions) {
    const std::string run = "letters, " + std::string(positions);
    const tasks::TaskModel model = results.model(run);
    explain::Series series{run, {}, {}};
    for (int64_t length = 4; length <= 18; length += 2) {
      results.say(run + ": strings of " + std::to_string(length));
      series.xs.push_back(static_cast<double>(length));
      series.ys.push_back(exact_on(model, strings_of_length(length)));
      report.numbers["lengths"][run][std::to_string(length)] = series.ys.back();
      if (positions != "none" && length == 12) seen = std::max(seen, series.ys.back());
      if (positions != "none" && length == 16) unseen = std::max(unseen, series.ys.back());
    }
    plot.series.push_back(std::move(series));
  }
  report.text(
      "Lengths that were never seen",
      "The same networks say letters backwards. Sinusoids exist for every place, learned positions only for those that "
      "training has met.");
  report.plot("lengths", plot, "The share of 100 strings of each length that are said backwards without a mistake.");
  report.live({.text = "Training has met up to 12 letters. Go beyond, and see where they lose their place.",
               .runs = {"letters, sinusoidal", "letters, learned", "letters, none"},
               .longest = 18});
  report.check("neither kind of positions carries over to longer strings than those of training", unseen < seen / 2,
               "of strings of 12 letters " + fixed(seen) + ", of 16 " + fixed(unseen) + " %");
}

}  // namespace

std::vector<Run> positions_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  std::vector<Run> runs;
  for (const std::string_view positions : kPositions) {
    if (quick && positions == "learned") continue;
    runs.push_back({std::string(positions),
                    "task=translate corpus=courses tokeniser.kind=words batch.tokens=600 " +
                        std::string(quick ? "train.steps=250 train.rate=6e-3" : "train.epochs=30 train.rate=2e-3") +
                        network(quick, positions)});
  }
  for (const std::string_view positions : kPositions) {
    if (!quick)
      runs.push_back({"letters, " + std::string(positions),
                      "task=reverse train.epochs=10 train.rate=2e-3" + network(false, positions)});
  }
  return runs;
}

void positions_report(const Results& results, Report& report) {
  report.set_up =
      "Which of two courses is harder? \"11-785 is harder than 10-707\" and \"10-707 is harder than 11-785\" have the "
      "same words "
      "and different answers. Transformers that differ in how places are marked: not at all, by sinusoids, or by "
      "vectors that are "
      "learned.";
  std::vector<std::string> runs;
  for (const std::string& run : results.runs()) {
    if (!run.starts_with("letters")) runs.push_back(run);
  }
  for (const std::string& run : runs) {
    const Estimate same = results.over_seeds(
        run, [&](int64_t seed) { return same_answer(results.model(run, seed), results.test(run, seed).examples); });
    const double exact = results.score(run, "exact").mean;
    report.numbers["same_answer"][run] = same.mean;
    if (run == "none") {
      report.check("without positions, exchanged courses get the same answer", same.mean > 99,
                   same.text() + " % of the questions");
      report.check("and no more than half of the answers are right", exact < 60, fixed(exact) + " %");
    } else {
      report.check("with " + run + " positions the answer follows the order", exact > 80, fixed(exact) + " % right");
    }
  }
  const std::vector<std::string> scores{"exact"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.live(
      {.text = "Exchange the two courses in the text, and see whose answer changes.", .runs = runs, .sliders = {}});
  report.figure(
      "sinusoids", picture_of_sinusoids(),
      "What is added to a word at each of 40 places (rows), in 32 of its numbers (columns): a clock with many hands.");
  if (!results.quick()) report_lengths(results, report);
  report.next = {
      {"echo \"11-785 is harder than 10-115\" | attend run DIR/models/none", "Ask it yourself, in both orders:"}};
}

}  // namespace attend::lab
