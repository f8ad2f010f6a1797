// scores: every score at one translation, and why a dot product is scaled.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/attention/attention.h"
#include "attend/explain/report_page.h"
#include "lab/experiments.h"
#include "lab/measure.h"

namespace attend::lab {
namespace {

using explain::fixed;

constexpr std::string_view kScores[] = {"dot",    "scaled_dot", "general",  "additive",
                                        "concat", "cosine",     "location", "convolution"};

/// What a softmax over random keys of one width makes of random queries.
struct Saturation {
  double entropy = 0;  ///< of the weights α, as a share of that of equal ones
  double gradient =
      0;  ///< ‖∂α/∂e‖ = ‖diag(α) − ααᵀ‖ (Frobenius): how much a change of the energies e moves the weights
};

Tensor random_normal(const Shape& shape, Random& random) {
  Tensor x(shape);
  for (real& value : x.values()) value = static_cast<real>(random.normal());
  return x;
}

/// The mean over the rows of weights [.., keys].
Saturation saturation_of_weights(const Tensor& weights, int64_t keys) {
  Saturation mean;
  const auto rows = static_cast<double>(weights.size()) / static_cast<double>(keys);
  for (auto row = weights.begin(); row != weights.end(); row += keys) {
    double entropy = 0, squares = 0, cubes = 0;
    for (int64_t j = 0; j < keys; ++j) {
      const double a = row[j];
      if (a > 0) entropy -= a * std::log(a);
      squares += a * a, cubes += a * a * a;
    }
    mean.entropy += entropy / std::log(static_cast<double>(keys)) / rows;
    // Σᵢ (αᵢ − αᵢ²)² + Σ_{i≠j} αᵢ²αⱼ² = Σα² − 2Σα³ + (Σα²)²
    mean.gradient += std::sqrt(std::max(0.0, squares - 2 * cubes + squares * squares)) / rows;
  }
  return mean;
}

Saturation saturation_of(std::string_view score, int64_t width) {
  constexpr int64_t kQueries = 64, kKeys = 64;
  Random random(17);
  const Attention attention({.query = width, .key = width, .value = width, .score = std::string(score)}, random);
  const Var queries(random_normal({1, kQueries, width}, random)), keys(random_normal({1, kKeys, width}, random));
  const AttentionRead read = attention(queries, attention.prepare(keys, keys), {.weights = true});
  return saturation_of_weights(read.weights.value(), kKeys);
}

/// Two figures, and what they show at the widest.
void report_saturation(Report& report) {
  constexpr std::array<int64_t, 9> kWidths{4, 8, 16, 32, 64, 128, 256, 512, 1024};
  explain::Plot entropy{.title = "Entropy of the weights",
                        .x_label = "width of queries and keys",
                        .y_label = "share of the largest",
                        .series = {},
                        .bounds = {{0, 1}}};
  explain::Plot gradient{.title = "Gradient of the weights",
                         .x_label = "width of queries and keys",
                         .y_label = "norm of its Jacobian",
                         .series = {}};
  for (const int64_t width : kWidths) entropy.categories.push_back(std::to_string(width));
  gradient.categories = entropy.categories;
  Saturation widest[2];
  for (const std::string_view score : {"dot", "scaled_dot"}) {
    explain::Series e{std::string(score), {}, {}}, g = e;
    for (const int64_t width : kWidths) {
      const Saturation found = saturation_of(score, width);
      e.xs.push_back(static_cast<double>(e.xs.size())), e.ys.push_back(found.entropy);
      g.xs.push_back(static_cast<double>(g.xs.size())), g.ys.push_back(found.gradient);
      report.numbers["saturation"][std::string(score)][std::to_string(width)] = {{"entropy", found.entropy},
                                                                                 {"gradient", found.gradient}};
      widest[score == "scaled_dot"] = found;
    }
    entropy.series.push_back(std::move(e)), gradient.series.push_back(std::move(g));
  }
  report.text("Why a dot product is divided by the root of its width",
              "Queries and keys of independent standard normal numbers: the energies of a dot product then have the "
              "variance of the "
              "width, and the softmax over 64 keys saturates. Nothing is trained here.");
  report.plot("entropy", entropy,
              "Of dot it falls with the width, until one key has all the weight; scaled, it stays.");
  report.plot("gradient", gradient, "What is left of the gradient that passes through the softmax.");
  report.check(
      "at width 1024 the softmax of dot is saturated, that of scaled dot is not",
      widest[0].entropy < 0.2 && widest[1].entropy > 0.6,
      "entropy " + fixed(100 * widest[0].entropy) + " against " + fixed(100 * widest[1].entropy) + " % of the largest");
  report.check("and less of a gradient passes through it", widest[0].gradient < widest[1].gradient,
               "norm " + fixed(widest[0].gradient, 3) + " against " + fixed(widest[1].gradient, 3));
}

/// A column: what a word of an answer of 14 words costs, one sentence at a time.
void add_speed(const Results& results, std::span<const std::string> runs, Table& table,
               nlohmann::ordered_json& numbers) {
  constexpr int64_t kWords = 14;
  table.head.push_back("ms a word");
  for (size_t i = 0; i < runs.size(); ++i) {
    results.say(runs[i] + ": timing answers of " + std::to_string(kWords));
    const double cost =
        milliseconds_per_token(results.model(runs[i]), text_of_length(results.test(runs[i]), false, kWords), kWords);
    table.rows.at(i).push_back(fixed(cost, 2));
    numbers["milliseconds_per_word"][runs[i]] = cost;
  }
}

}  // namespace

std::vector<Run> scores_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  // Both directions are added, so that states are as wide as queries, and a dot product needs no projection.
  const std::string network =
      "task=translate model.name=encoder_decoder model.encoder.kind=recurrent model.encoder.cell=gru "
      "model.encoder.directions=add "
      "model.decoder.cell=gru model.decoder.query=after model.decoder.feeding=true";
  const std::string common =
      quick ? network +
                  " model.encoder.size=64 model.decoder.size=64 model.decoder.embedding=32 train.steps=400 "
                  "train.rate=1e-2 "
                  "valid_sentences=100 model.attention.score="
            : network +
                  " model.encoder.size=128 model.encoder.dropout=0.1 model.decoder.size=128 model.decoder.embedding=64 "
                  "model.decoder.dropout=0.1 model.attention.score=";
  if (quick) return {{"additive", common + "additive"}, {"location", common + "location model.attention.longest=20"}};
  std::vector<Run> runs;
  for (const std::string_view score : kScores) {
    runs.push_back(
        {std::string(score), common + std::string(score) + (score == "location" ? " model.attention.longest=20" : "")});
  }
  return runs;
}

void scores_report(const Results& results, Report& report) {
  report.set_up =
      "English sentences to romanised Hindi with known word alignments. Recurrent encoder-decoders that differ in "
      "their score "
      "alone: how a query of the decoder is compared with a state of the encoder. Location and convolution do not look "
      "at the "
      "states at all: they go by the query, or by the place. The encoder's two directions are added, so that a state "
      "is as wide as "
      "a query and a dot product has no parameters of its own.";
  const std::vector<std::string> runs = results.runs();
  const std::vector<std::string> scores{"exact", "bleu", "aer"};
  Table table = score_table(results, runs, scores, report.numbers);
  add_speed(results, runs, table, report.numbers);
  report.blocks.emplace_back(std::move(table));
  report.plot("curves", curve_plot(results, runs, "exact"), "How they learned: validations of the first seed.");
  double by_content = 0, by_place = 0;
  std::string best, best_place;
  for (const std::string& run : runs) {
    const double bleu = results.score(run, "bleu").mean;
    const bool place = run == "location" || run == "convolution";
    double& most = place ? by_place : by_content;
    if (bleu > most) most = bleu, (place ? best_place : best) = run;
  }
  report.check("scores that compare with what was read do better than those that go by its place",
               by_content > by_place + 1,
               "BLEU " + fixed(by_content) + " (" + best + ") against " + fixed(by_place) + " (" + best_place + ")");
  report_saturation(report);
  report.next = {{"attend list scores", "The scores with their formulas and papers:"},
                 {"attend compare translate --vary attention.score=dot,additive --variant \"trilinear: "
                  "attention.score=trilinear\" --out own",
                  "Other choices:"}};
}

}  // namespace attend::lab
