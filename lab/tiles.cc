// tiles: a glimpse network that draws one tile of the image at each step, against one that reads the expectation over all tiles.
#include <algorithm>
#include <cmath>
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

constexpr const char *kDrawn = "drawn tile", *kExpected = "expectation";

/// −Σ p log₂ p: of K tiles all alike log₂ K.
double entropy_in_bits(const real* p, int64_t count) {
  double sum = 0;
  for (int64_t k = 0; k < count; ++k) {
    if (p[k] > 0) sum -= static_cast<double>(p[k]) * std::log2(static_cast<double>(p[k]));
  }
  return sum;
}

/// Of one model, by step: means over images of the test.
struct Looked {
  std::vector<double> entropy;   ///< of P(tile | state)
  std::vector<double> accuracy;  ///< of the label after that step
  int64_t tiles = 0;
  double ink = 0, ink_by_chance = 0;  ///< share of weight on tiles with ink, and that of a tile taken at random
};

/// Which tiles of an image have ink.
std::vector<bool> inked(const Tensor& image, const models::TileGrid& grid) {
  std::vector<bool> ink(static_cast<size_t>(grid.rows * grid.columns), false);
  for (int64_t y = 0; y < image.dim(2); ++y) {
    for (int64_t x = 0; x < image.dim(3); ++x) {
      if (image.data()[y * image.dim(3) + x] > real(0.3)) {
        ink[static_cast<size_t>(y / grid.side * grid.columns + x / grid.side)] = true;
      }
    }
  }
  return ink;
}

Looked looked_at(const tasks::TaskModel& model, const tasks::Examples& examples, int64_t count) {
  const auto& network = dynamic_cast<const models::GlimpseNetwork&>(model.model());
  const std::vector<std::string> labels = model.output().labels();
  Looked sums;
  for (int64_t i = 0; i < count; ++i) {
    const tasks::Example example = examples.at(i);
    const Tensor image = image_of(model, example);
    const models::GlimpsePath path = network.look(image).at(0);
    const int64_t steps = path.locations.dim(0), tiles = path.tiles.rows * path.tiles.columns;
    const std::vector<bool> ink = inked(image, path.tiles);
    sums.entropy.resize(static_cast<size_t>(steps)), sums.accuracy.resize(static_cast<size_t>(steps));
    sums.tiles = tiles;
    for (int64_t t = 0; t < steps; ++t) {
      const real *p = path.tile_shares.data() + t * tiles, *label = path.probabilities[t].data();
      sums.entropy[static_cast<size_t>(t)] += entropy_in_bits(p, tiles);
      const auto said = static_cast<size_t>(std::max_element(label, label + labels.size()) - label);
      sums.accuracy[static_cast<size_t>(t)] += labels[said] == example.right.at(0) ? 100 : 0;
      const real* weights = path.tile_weights.data() + t * tiles;
      for (int64_t k = 0; k < tiles; ++k) {
        if (ink[static_cast<size_t>(k)]) sums.ink += static_cast<double>(weights[k]) / static_cast<double>(steps);
      }
    }
    sums.ink_by_chance += static_cast<double>(std::ranges::count(ink, true)) / static_cast<double>(tiles);
  }
  for (double& value : sums.entropy) value /= static_cast<double>(count);
  for (double& value : sums.accuracy) value /= static_cast<double>(count);
  sums.ink *= 100.0 / static_cast<double>(count), sums.ink_by_chance *= 100.0 / static_cast<double>(count);
  return sums;
}

/// P(tile | state) at each step over one image.
Fragment tiles_row(const tasks::TaskModel& model, const tasks::Example& example, const std::string& title) {
  constexpr double kTitleWidth = 92, kSide = 96, kGap = 8;
  const auto look = std::get<explain::ImageLook>(tasks::explain(model, example, {}));
  const auto& glimpses = std::get<explain::GlimpseLook>(look.seen);
  Fragment row{.height = kSide};
  const Fragment name =
      explain::text_lines(std::vector<std::string>{title, "says " + glimpses.answer}, {.size = explain::kSmall});
  row.svg = explain::placed(name, 0, kSide / 2 - name.height / 2);
  row.width = kTitleWidth;
  for (size_t t = 0; t < glimpses.glances.size(); ++t) {
    row.svg += explain::placed(explain::draw_tiles(look, glimpses, t, kSide), row.width, 0);
    row.width += kSide + kGap;
  }
  return row;
}

explain::Plot by_step(const char* title, const char* y, std::optional<std::pair<double, double>> bounds) {
  return {.title = title, .x_label = "step", .y_label = y, .series = {}, .categories = {}, .bounds = bounds};
}

void add_series(explain::Plot& plot, const std::string& name, const std::vector<double>& values) {
  explain::Series series{name, {}, values};
  for (size_t t = 0; t < values.size(); ++t) series.xs.push_back(static_cast<double>(t));
  plot.categories.clear();
  for (size_t t = 0; t < values.size(); ++t) plot.categories.push_back(std::to_string(t + 1));
  plot.series.push_back(std::move(series));
}

}  // namespace

std::vector<Run> tiles_runs(Scale scale) {
  const std::string common =
      "task=glimpse model.policy=tiles model.patch=7 model.glimpses=4 " +
      std::string(scale == Scale::quick
                      ? "model.what=48 model.where=16 model.glimpse=64 model.hidden=96 batch.images=64 "
                        "train.steps=1200 train.rate=3e-3"
                      : "train.epochs=4 train.rate=1e-3") +
      " model.attention.align=";
  return {{kExpected, common + "softmax"}, {kDrawn, common + "sample model.reinforce.entropy=0.01 model.copies=2"}};
}

void tiles_report(const Results& results, Report& report) {
  const int64_t count = results.quick() ? 200 : 1000;
  report.set_up =
      "A digit of 28 × 28 pixels is cut into sixteen tiles of 7 × 7. Four times the network asks them with its state, "
      "and has P(tile | state). One network reads the expectation, all tiles each by its share, and learns by its "
      "gradient; the other draws a single tile, and learns what to draw by reward (REINFORCE). Asked, it takes the "
      "likeliest tile.";
  std::map<std::string, Looked> looked;
  explain::Plot entropy = by_step("How sure it is where to look", "entropy of P(tile | state) in bits", {});
  explain::Plot accuracy = by_step("How right it is after so many steps", "accuracy in %", std::pair{0.0, 100.0});
  for (const std::string& run : results.runs()) {
    results.say(run + ": looking");
    const Looked& one = looked[run] = looked_at(results.model(run), results.test(run).examples, count);
    add_series(entropy, run, one.entropy);
    add_series(accuracy, run, one.accuracy);
    report.numbers["entropy"][run] = one.entropy;
    report.numbers["accuracy_by_step"][run] = one.accuracy;
    report.numbers["on_ink"][run] = {{"looked", one.ink}, {"by_chance", one.ink_by_chance}};
  }
  const Looked &drawn = looked[kDrawn], &expected = looked[kExpected];
  report.check("reading the expectation is at least as right as drawing one tile",
               expected.accuracy.back() >= drawn.accuracy.back(),
               fixed(expected.accuracy.back()) + " against " + fixed(drawn.accuracy.back()) + " %");
  report.check("with every tile that is drawn the answer gets better",
               drawn.accuracy.back() > drawn.accuracy.front() + 5,
               fixed(drawn.accuracy.front()) + " % after one tile, " + fixed(drawn.accuracy.back()) + " % after four");
  report.check("tiles are drawn where the ink is more often than by chance", drawn.ink > drawn.ink_by_chance + 5,
               fixed(drawn.ink) + " % against " + fixed(drawn.ink_by_chance) + " %");
  report.check(
      "what is drawn is chosen: P(tile | state) has less entropy than tiles all alike",
      drawn.entropy.back() < 0.9 * std::log2(static_cast<double>(drawn.tiles)),
      fixed(drawn.entropy.back(), 2) + " of " + fixed(std::log2(static_cast<double>(drawn.tiles)), 2) + " bits");
  std::vector<Fragment> rows;
  for (int64_t i = 0; i < 3; ++i) {
    for (const std::string& run : results.runs()) {
      rows.push_back(tiles_row(results.model(run), results.test(run).examples.at(i), run));
    }
  }
  report.figure("tiles", explain::svg_document(explain::stacked(rows, 8), 12),
                "P(tile | state) over three digits, step by step: the clearer, the likelier. A frame is the tile that "
                "was read; without a frame all were, each by its share.");
  report.plot("accuracy", accuracy, "Labels as they would be after each step.");
  report.plot("entropy", entropy, "4 bits would be sixteen tiles all alike, 0 bits one tile for sure.");
  const std::vector<std::string> runs = results.runs(), scores{"accuracy"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.next = {
      {"attend explain DIR/models/drawn-tile --example 0 --out tiles.html",
       "Step through P(tile | state) over an image, and what it says after each tile:"},
      {"attend train glimpse --model.policy learned --out places", "Places anywhere in the image instead of tiles:"}};
}

}  // namespace attend::lab
