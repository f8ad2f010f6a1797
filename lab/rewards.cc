// rewards: one glimpse network, paid for different things on different tasks: finding the odd one, finding it early, counting.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "attend/explain/image_draw.h"
#include "attend/explain/report_page.h"
#include "attend/models/glimpse.h"
#include "attend/tasks/explanation.h"
#include "lab/experiments.h"
#include "lab/measure.h"

namespace attend::lab {
namespace {

using explain::fixed;
using explain::Fragment;

constexpr const char *kFind = "find, right", *kFindEarly = "find, right and early", *kFindAnywhere = "find, at random";
constexpr const char *kCount = "count, right", *kCountNear = "count, near", *kCountAnywhere = "count, at random";

/// Of one model, over images of its test.
struct Earned {
  std::vector<double> accuracy;  ///< in percent, of the answer that it would give after each glance
  std::vector<double> stopped;   ///< share of images, in percent, at which it took so many glances
  double right = 0;              ///< accuracy of its answers, after as many glances as it took
  double off = 0;                ///< mean |answer − label|, by their numbers in the list of labels
  double glances = 0;
};

Earned earned_by(const tasks::TaskModel& model, const tasks::Examples& examples, int64_t count) {
  const auto& network = dynamic_cast<const models::GlimpseNetwork&>(model.model());
  const std::vector<std::string> labels = model.output().labels();
  const auto steps = static_cast<size_t>(network.options().glimpses);
  const double share = 1 / static_cast<double>(count);
  Earned mean{std::vector<double>(steps), std::vector<double>(steps)};
  for (int64_t i = 0; i < count; ++i) {
    const tasks::Example example = examples.at(i);
    const models::GlimpsePath path = network.look(image_of(model, example)).at(0);
    const int64_t right = std::ranges::find(labels, example.right.at(0)) - labels.begin();
    for (size_t t = 0; t < steps; ++t) {
      const real* p = path.probabilities.data() + t * labels.size();
      const int64_t said = std::max_element(p, p + labels.size()) - p;
      mean.accuracy[t] += said == right ? 100 * share : 0;
      if (static_cast<int64_t>(t) + 1 != path.steps) continue;
      mean.right += said == right ? 100 * share : 0;
      mean.off += static_cast<double>(std::abs(said - right)) * share;
      mean.glances += static_cast<double>(path.steps) * share, mean.stopped[t] += 100 * share;
    }
  }
  return mean;
}

/// By number of glances, in percent.
explain::Plot by_glances(const char* title, const char* y) {
  return {.title = title,
          .x_label = "glances",
          .y_label = y,
          .series = {},
          .categories = {},
          .bounds = std::pair{0.0, 100.0}};
}

void add_glances(explain::Plot& plot, const std::string& name, const std::vector<double>& values) {
  explain::Series series{name, {}, values};
  plot.categories.clear();
  for (size_t t = 0; t < values.size(); ++t) {
    series.xs.push_back(static_cast<double>(t)), plot.categories.push_back(std::to_string(t + 1));
  }
  plot.series.push_back(std::move(series));
}

/// The paths of some models over the same images, a row for each model.
std::string drawn_paths(const Results& results, std::span<const std::string> runs) {
  constexpr double kTitleWidth = 116, kSide = 120, kGap = 10;
  constexpr int64_t kImages = 4;
  std::vector<Fragment> rows;
  for (const std::string& run : runs) {
    const tasks::TaskModel model = results.model(run);
    Fragment row{.width = kTitleWidth};
    for (int64_t i = 0; i < kImages; ++i) {
      const auto look = std::get<explain::ImageLook>(tasks::explain(model, results.test(run).examples.at(i), {}));
      const auto& glimpses = std::get<explain::GlimpseLook>(look.seen);
      const Fragment says =
          explain::text_lines(std::vector<std::string>{"says " + glimpses.answer}, {.size = explain::kSmall});
      const Fragment one =
          explain::stacked({explain::draw_path(look, glimpses, glimpses.glances.size(), kSide, false), says}, 4);
      row.svg += explain::placed(one, row.width, 0);
      row.width += std::max(one.width, kSide) + kGap, row.height = std::max(row.height, one.height);
    }
    const Fragment name = explain::text_lines(std::vector<std::string>{run}, {.size = explain::kSmall});
    row.svg += explain::placed(name, 0, kSide / 2 - name.height / 2);
    rows.push_back(std::move(row));
  }
  return explain::svg_document(explain::stacked(rows, 10), 12);
}

/// What one model earned, over all seeds.
struct EarnedEstimate {
  Estimate right, off, glances;
};

void check_finding(std::map<std::string, EarnedEstimate>& found, int64_t most, Report& report) {
  const EarnedEstimate &whole = found[kFind], &early = found[kFindEarly], &anywhere = found[kFindAnywhere];
  report.check("paid for the right answer, it finds the odd one more often than by places drawn at random",
               whole.right.mean > anywhere.right.mean + 5,
               whole.right.text() + " against " + anywhere.right.text() + " %");
  report.check("paid more the earlier it stops, it takes fewer glances",
               early.glances.mean < 0.8 * static_cast<double>(most),
               early.glances.text(2) + " against " + std::to_string(most));
  report.check("and is right nearly as often", early.right.mean > whole.right.mean - 5,
               early.right.text() + " against " + whole.right.text() + " %");
}

void check_counting(std::map<std::string, EarnedEstimate>& found, Report& report) {
  const EarnedEstimate &exact = found[kCount], &near = found[kCountNear], &anywhere = found[kCountAnywhere];
  report.check("paid for the right number, it counts better than by places drawn at random",
               exact.right.mean > anywhere.right.mean + 5,
               exact.right.text() + " against " + anywhere.right.text() + " %");
  report.check("paid for being near, what it says is off by less than if it is paid for the right number alone",
               near.off.mean < exact.off.mean,
               "by " + near.off.text(3) + " against " + exact.off.text(3) +
                   " on average (at random: " + anywhere.off.text(3) + ")");
}

}  // namespace

std::vector<Run> rewards_runs(Scale scale) {
  const std::string common =
      "task=glimpse batch.images=64 train.rate=2e-3 " +
      std::string(scale == Scale::quick
                      ? "model.patch=20 model.first=centre model.core=lstm model.what=64 model.where=32 "
                        "model.glimpse=96 model.hidden=96 train.steps=450"
                      : "model.patch=24 model.glimpses=5 train.steps=1500") +
      " corpus=";
  const std::string cost = scale == Scale::quick ? "0.05" : "0.02";
  const std::string early = " model.reward=correct_while_early model.cost=" + cost, anywhere = " model.policy=random";
  std::vector<Run> runs{{kFind, common + "odd-one model.reward=correct"},
                        {kFindEarly, common + "odd-one" + early},
                        {kFindAnywhere, common + "odd-one" + anywhere}};
  if (scale == Scale::quick) return runs;
  runs.push_back({kCount, common + "dots model.reward=correct"});
  runs.push_back({kCountNear, common + "dots model.reward=near"});
  runs.push_back({kCountAnywhere, common + "dots" + anywhere});
  return runs;
}

void rewards_report(const Results& results, Report& report) {
  const int64_t count = results.quick() ? 300 : 1000;
  report.set_up =
      "Images of 48 × 48 pixels, seen through a window of " +
      std::string(results.quick() ? "20 × 20, six times at most, first in the middle"
                                  : "24 × 24, five times at most, first at a place drawn at random") +
      ". On some, four bars lie in two "
      "rows, and one of them across the others: where? On the others are one to five dots: how many? The network and "
      "how long it learns are the same throughout. What it says is learned from the right answers. Where it looks is "
      "learned by a reward alone (REINFORCE): for the right answer; for the right answer, of which each glance takes "
      "a small share, so that it also learns when to stop; for a number near the right one. Beside them, a network "
      "whose places "
      "are drawn at random, and which learns nothing about them.";
  explain::Plot accuracy = by_glances("How right it would be after so many glances", "accuracy in %");
  explain::Plot stopped = by_glances("When it stops", "images in %");
  Table table{.title = "What each reward brought",
              .head = {"Task and reward", "right, %", "off by", "glances", "training, s"}};
  std::map<std::string, EarnedEstimate> found;
  for (const std::string& run : results.runs()) {
    results.say(run + ": looking");
    std::map<int64_t, Earned> of_seed;
    for (const int64_t seed : results.seeds(run)) {
      of_seed[seed] = earned_by(results.model(run, seed), results.test(run, seed).examples, count);
    }
    const auto over = [&](double Earned::*what) {
      return results.over_seeds(run, [&](int64_t seed) { return of_seed.at(seed).*what; });
    };
    const EarnedEstimate& one = found[run] = {over(&Earned::right), over(&Earned::off), over(&Earned::glances)};
    const Earned& first = of_seed.begin()->second;
    add_glances(accuracy, run, first.accuracy);
    if (run == kFindEarly) add_glances(stopped, run, first.stopped);
    const bool counts = run.starts_with("count");
    table.rows.push_back(
        {run, one.right.text(), counts ? one.off.text(3) : "–", one.glances.text(2), results.seconds(run).text(0)});
    report.numbers["right"][run] = one.right.mean;
    report.numbers["off"][run] = one.off.mean;
    report.numbers["glances"][run] = one.glances.mean;
    report.numbers["accuracy_by_glances"][run] = first.accuracy;
    report.numbers["stopped"][run] = first.stopped;
  }
  check_finding(found, static_cast<int64_t>(accuracy.categories.size()), report);
  if (!results.quick()) check_counting(found, report);
  report.blocks.emplace_back(std::move(table));
  const std::vector<std::string> find{kFind, kFindEarly, kFindAnywhere}, counted{kCount, kCountNear, kCountAnywhere};
  report.figure("find", drawn_paths(results, find),
                "The same four images, a row for each network: which of the four bars lies across the others? Numbers "
                "are glances in their order; the network that is paid for being early stops when it has seen enough.");
  report.plot("accuracy", accuracy, "Answers as they would be after each glance, whether or not it stopped before.");
  report.plot("stopped", stopped, "How many glances the network takes that is paid for being early.");
  if (!results.quick()) {
    report.figure("count", drawn_paths(results, counted), "How many dots? What differs is what it is paid for.");
  }
  report.next = {{"attend train glimpse --corpus dots --model.reward correct_minus_cost --model.cost 0.1 --out hasty",
                  "Another reward on another task, here a number and a high price for each glance:"},
                 {"attend explain DIR/models/find-right-and-early --example 0 --out looked.html",
                  "Step through its glances, and see when it would stop:"}};
}

}  // namespace attend::lab
