// glimpse-cost: what a glimpse network, a convolutional and a fully connected one cost as the image grows; and images of
// sizes that the glimpse network never saw.
#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/autograd/tape.h"
#include "attend/base/clock.h"
#include "attend/data/digit_scenes.h"
#include "attend/data/image_set.h"
#include "attend/data/resize.h"
#include "attend/explain/report_page.h"
#include "lab/experiments.h"
#include "lab/operations.h"

namespace attend::lab {
namespace {

using explain::fixed;

constexpr const char *kGlimpses = "glimpses", *kConvolutional = "convolutional", *kDense = "fully connected";
constexpr int64_t kTimedSides[] = {28, 40, 60, 100, 160, 250, 400};
constexpr int64_t kTrainedSide = 60, kLabels = 10;

models::GlimpseOptions glimpse_options() {
  models::GlimpseOptions options{.labels = kLabels};
  options.eye.patch = 12, options.eye.scales = 3;
  return options;
}

models::ImageClassifierOptions classifier_options(const std::string& kind, int64_t side) {
  models::ImageClassifierOptions options;
  options.labels = kLabels;
  options.encoder.kind = kind, options.encoder.channels = 1;
  options.encoder.height = options.encoder.width = side;
  options.encoder.stages = kind == "dense" ? "256,256" : "16,32,64";
  return options;
}

/// Milliseconds for one image: the least of a few tries, each as long as a clock can tell.
double milliseconds_for(const models::Model& model, int64_t side) {
  constexpr int kTries = 5;
  constexpr double kLeast = 0.02;  // seconds of a try
  const TapePause pause;
  Random random(1);
  Tensor image({1, 1, side, side});
  for (real& pixel : image.values()) pixel = static_cast<real>(random.uniform());
  const data::Source source = data::Source::of_images(image);
  model.begin(source);
  double least = 1e9;
  for (int i = 0; i < kTries; ++i) {
    const double begun = steady_seconds();
    int64_t count = 0;
    do {
      model.begin(source), ++count;
    } while (steady_seconds() - begun < kLeast);
    least = std::min(least, (steady_seconds() - begun) / static_cast<double>(count));
  }
  return 1000 * least;
}

/// By kind of network and size of the image.
struct Costs {
  explain::Plot operations, time;

  void add(size_t kind, int64_t side, int64_t multiply_adds, double milliseconds) {
    operations.series[kind].xs.push_back(static_cast<double>(side));
    operations.series[kind].ys.push_back(static_cast<double>(multiply_adds));
    time.series[kind].xs.push_back(static_cast<double>(side));
    time.series[kind].ys.push_back(milliseconds);
  }
  /// How many times as much the largest image costs as the smallest.
  static double growth(const explain::Series& s) { return s.ys.back() / s.ys.front(); }
};

Costs measured_costs(const Results& results) {
  const auto plot = [](const char* title, const char* y) {
    return explain::Plot{.title = title,
                         .x_label = "pixels along a side of the image",
                         .y_label = y,
                         .series = {{kGlimpses, {}, {}}, {kConvolutional, {}, {}}, {kDense, {}, {}}},
                         .log_x = true,
                         .log_y = true};
  };
  Costs costs{plot("Multiply-adds for one image", "multiply-adds"), plot("Time for one image", "milliseconds")};
  Random random(1);
  const models::GlimpseNetwork glimpses(glimpse_options(), random);
  for (const int64_t side : kTimedSides) {
    results.say("timing images of " + std::to_string(side) + " pixels");
    costs.add(0, side, multiply_adds(glimpse_options()), milliseconds_for(glimpses, side));
    size_t kind = 1;
    for (const char* name : {"convolutional", "dense"}) {
      const models::ImageClassifierOptions options = classifier_options(name, side);
      costs.add(kind++, side, multiply_adds(options, side),
                milliseconds_for(models::ImageClassifier(options, random), side));
    }
  }
  return costs;
}

void report_costs(const Results& results, Report& report) {
  const Costs costs = measured_costs(results);
  const auto times = [](double growth) { return fixed(growth, growth < 10 ? 2 : 0); };
  const auto& operations = costs.operations.series;
  const auto& time = costs.time.series;
  report.check("a glimpse network takes no longer for 400 pixels a side than for 28 (less than half as long again)",
               Costs::growth(time[0]) < 1.5,
               times(Costs::growth(time[0])) + " times the time: " + fixed(time[0].ys.front(), 2) + " and " +
                   fixed(time[0].ys.back(), 2) + " ms");
  for (const size_t kind : {size_t{1}, size_t{2}}) {
    report.check("a " + time[kind].name + " one takes at least twenty times as long", Costs::growth(time[kind]) > 20,
                 times(Costs::growth(time[kind])) + " times the time, " + times(Costs::growth(operations[kind])) +
                     " times the multiply-adds");
  }
  for (size_t kind = 0; kind < time.size(); ++kind) {
    for (size_t i = 0; i < time[kind].xs.size(); ++i) {
      const std::string side = std::to_string(static_cast<int64_t>(time[kind].xs[i]));
      report.numbers["multiply_adds"][time[kind].name][side] = operations[kind].ys[i];
      report.numbers["milliseconds"][time[kind].name][side] = time[kind].ys[i];
    }
  }
  report.plot("operations", costs.operations,
              "Counted by formula. A convolution is computed at every pixel, and a fully connected layer has a weight "
              "for each; six glances of three squares are the same whatever they are taken of.");
  report.plot("time", costs.time, "One image at a time, once it is in memory, on both axes by ratios.");
}

/// Digits on canvases of another size, none of which training drew.
tasks::Examples on_canvas(int64_t side, int64_t count) {
  const auto digits = data::stored(data::DrawnDigits(count, 977));
  const auto scenes = std::make_shared<data::SceneImages>(*digits, data::SceneOptions{.size = side}, 31, false);
  return {count, [scenes](int64_t i) {
            data::LabelledImage one = scenes->at(i);
            return tasks::Example{.inputs = {std::move(one.image)},
                                  .right = {std::to_string(one.label)},
                                  .name = "canvas " + std::to_string(i)};
          }};
}

tasks::Examples shrunk(const tasks::Examples& examples, int64_t side) {
  return {examples.count, [examples, side](int64_t i) {
            tasks::Example one = examples.at(i);
            data::Image& image = std::get<data::Image>(one.inputs[0]);
            image = data::resized(image, side, side);
            return one;
          }};
}

double accuracy_of(const tasks::TaskModel& model, const tasks::Examples& examples) {
  return tasks::evaluate(model, examples, {}).scores(model.row()).at("accuracy");
}

void report_unseen_sizes(const Results& results, Report& report) {
  const int64_t count = results.quick() ? 300 : 2000;
  const std::vector<int64_t> sides{28, 40, 50, kTrainedSide, 72, 84, 100, 120, 160};
  explain::Plot plot{.title = "The same networks on canvases of another size",
                     .x_label = "pixels along a side of the canvas",
                     .y_label = "accuracy in %",
                     .series = {},
                     .bounds = std::pair{0.0, 100.0}};
  std::map<std::string, std::map<int64_t, double>> accuracy;
  for (const std::string& run : results.runs()) {
    for (const bool keep : {true, false}) {
      const std::string name = run + (keep ? "" : ", scaled to 60");
      if (!keep && run != kGlimpses) continue;
      explain::Series series{name, {}, {}};
      for (const int64_t side : sides) {
        results.say(name + ": canvases of " + std::to_string(side) + " pixels");
        const Estimate found = results.over_seeds(run, [&](int64_t seed) {
          const tasks::Examples canvases = on_canvas(side, count);
          return accuracy_of(results.model(run, seed), keep ? canvases : shrunk(canvases, kTrainedSide));
        });
        accuracy[name][side] = found.mean;
        series.xs.push_back(static_cast<double>(side)), series.ys.push_back(found.mean);
        report.numbers["accuracy"][name][std::to_string(side)] = found.mean;
      }
      plot.series.push_back(std::move(series));
    }
  }
  report.text(
      "Sizes that were never seen",
      "The networks were trained on canvases of 60 pixels a side, each with a digit of 28 somewhere on it. They "
      "answer for other canvases without scaling them: places are shares of the canvas, squares are pixels. "
      "Scaled to 60 pixels instead, a digit is no longer as large as those that were learned.");
  report.plot("sizes", plot, "Right answers on digits that were never seen; 10 % is chance.");
  auto& kept = accuracy[kGlimpses];
  report.check("on a canvas of twice the area it never saw, it is still right three times as often as chance",
               kept[84] > 30, fixed(kept[84]) + " % (" + fixed(kept[kTrainedSide]) + " % at the size it learned from)");
}

}  // namespace

std::vector<Run> glimpse_cost_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  const std::string common = "task=glimpse scene=translated size=" + std::to_string(kTrainedSide) + " keep_size=true ";
  std::vector<Run> runs{{kGlimpses, common + "model.patch=12 model.scales=3 model.first=coarse " +
                                        (quick ? "train.steps=500 train.rate=2e-3" : "train.epochs=12")}};
  if (quick) return runs;
  runs.push_back({kConvolutional, common + "model.name=image_classifier model.encoder.stages=16,32,64 train.epochs=3 "
                                           "train.rate=1e-3"});
  return runs;
}

void glimpse_cost_report(const Results& results, Report& report) {
  report.set_up =
      "Three networks label one image: six glances of three squares (12, 24 and 48 pixels), three convolutions whose "
      "grid is averaged, and two fully connected layers. What they cost is counted and timed with first weights, as "
      "it does not depend on them.";
  report_costs(results, report);
  report_unseen_sizes(results, report);
  std::vector<std::string> runs = results.runs();
  const std::vector<std::string> scores{"accuracy"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.next = {{"attend run DIR/models/glimpses photo.png",
                  "Ask the trained network about an image of any size from 8 to 2048 pixels a side:"},
                 {"attend explain DIR/models/glimpses --example 0 --out looked.html", "See where it looked:"}};
}

}  // namespace attend::lab
