// hard-or-soft: choosing one place against a mean of all, on one task.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "attend/autograd/tape.h"
#include "attend/data/digits.h"
#include "attend/decode/search.h"
#include "attend/explain/image_draw.h"
#include "attend/explain/report_page.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;

constexpr const char* kLearned = "sample, learned baseline";
constexpr std::string_view kBaselines[] = {"none", "moving_average", "learned"};

/// The same network with the same weights and another value of one option.
std::unique_ptr<models::Model> with_option(tasks::TaskModel& trained, std::string_view name, std::string_view value) {
  tasks::ModelChoice choice = trained.config().model;
  for (OptionInfo& option : choice.options) {
    if (option.name == name) option.value = value;
  }
  std::map<std::string, Tensor> weights;
  trained.model().params([&](const std::string& name, Var& parameter) { weights[name] = parameter.value(); });
  std::unique_ptr<models::Model> model = choice.make(1);
  model->params([&](const std::string& name, Var& parameter) {
    if (weights.contains(name)) parameter.value() = weights[name].clone();
  });
  return model;
}

/// The gradient of one forward pass with its own draws, all parameters in one row.
std::vector<double> gradient_of(models::Model& model, const data::Batch& batch, uint64_t seed) {
  models::Training training{.random = Random(seed)};
  Tape tape;
  tape.backward(model.loss(batch, &training));
  std::vector<double> all;
  model.params([&](const std::string&, Var& parameter) {
    if (parameter.gradient().defined()) {
      all.insert(all.end(), parameter.gradient().begin(), parameter.gradient().end());
      parameter.clear_gradient();
    }
  });
  return all;
}

/// E‖g − E g‖², over draws on one batch.
double variance_of_gradient(models::Model& model, const data::Batch& batch, int draws) {
  constexpr uint64_t kSettling = 40;  // passes after which a moving average has forgotten that it began with 0
  for (uint64_t i = 0; i < kSettling; ++i) gradient_of(model, batch, 1000 + i);
  std::vector<double> mean;
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    const std::vector<double> gradient = gradient_of(model, batch, static_cast<uint64_t>(i));
    mean.resize(gradient.size());
    for (size_t k = 0; k < gradient.size(); ++k)
      mean[k] += gradient[k] / draws, squares += gradient[k] * gradient[k] / draws;
  }
  for (const double m : mean) squares -= m * m;
  return squares * draws / (draws - 1);
}

/// How many of a hundred test examples another network answers exactly, in the trained one's place.
double exact_by(const models::Model& network, const tasks::TaskModel& trained, const tasks::Examples& examples) {
  constexpr int64_t kAsked = 200;
  double right = 0;
  for (int64_t i = 0; i < kAsked; ++i) {
    const tasks::Example example = examples.at(i);
    const tasks::Ready ready = trained.ready(example);
    const tasks::Ready* batch[] = {&ready};
    const auto found = decode::search(network, trained.source(batch), {});
    right += trained.output().written(found.at(0).at(0).tokens, ready) == example.right.at(0);
  }
  return 100 * right / kAsked;
}

void report_argmax(const Results& results, Report& report) {
  tasks::TaskModel trained = results.model("softmax");
  const tasks::Examples& examples = results.test("softmax").examples;
  const double soft = exact_by(trained.model(), trained, examples);
  const double hard = exact_by(*with_option(trained, "model.attention.align", "argmax"), trained, examples);
  report.numbers["argmax_after_softmax"] = {{"softmax", soft}, {"argmax", hard}};
  report.check("what was learned softly can be used hard: the largest weight alone is nearly as good", hard > soft - 10,
               fixed(hard) + " against " + fixed(soft) + " % exact");
}

void report_variance(const Results& results, Report& report) {
  tasks::TaskModel trained = results.model(kLearned);
  const tasks::Examples& examples = results.test(kLearned).examples;
  std::vector<tasks::Example> some;
  for (int64_t i = 0; i < 32; ++i) some.push_back(examples.at(i));
  const data::Batch batch = trained.batch(some);
  Table table{.title = "Variance of the gradient, by what is subtracted from the reward",
              .head = {"Baseline", "E‖g − E g‖²"}};
  std::map<std::string_view, double> variance;
  for (const std::string_view baseline : kBaselines) {
    results.say("variance of the gradient: " + std::string(baseline));
    variance[baseline] = variance_of_gradient(*with_option(trained, "model.reinforce.baseline", baseline), batch,
                                              results.quick() ? 30 : 100);
    table.rows.push_back({std::string(baseline), fixed(variance[baseline], 4)});
    report.numbers["variance"][std::string(baseline)] = variance[baseline];
  }
  report.text("Why a reward needs a baseline",
              "The gradient of a choice that was drawn is an estimate. Here it is drawn again and again for one batch "
              "and the same "
              "weights, those of the model with a learned baseline.");
  report.blocks.emplace_back(std::move(table));
  report.check("a learned baseline makes the gradient less noisy than none", variance["learned"] < variance["none"],
               "variance " + fixed(variance["learned"], 4) + " against " + fixed(variance["none"], 4));
}

data::Image mean_image(std::span<const data::Image> images) {
  data::Image mean(images[0].height, images[0].width, images[0].channels);
  for (size_t i = 0; i < mean.pixels.size(); ++i) {
    size_t sum = 0;
    for (const data::Image& image : images) sum += image.pixels[i];
    mean.pixels[i] = static_cast<uint8_t>(sum / images.size());
  }
  return mean;
}

/// Digits side by side, then the mean of their pixels.
explain::Fragment averaged_row(uint64_t seed, int64_t count) {
  constexpr double kSide = 56, kGap = 8;
  explain::Fragment row{.height = kSide};
  std::vector<data::Image> images;
  const auto add = [&](const data::Image& image) {
    row.svg += explain::placed(explain::draw_image(image, kSide), row.width, 0);
    row.width += kSide + kGap;
  };
  for (int64_t i = 0; i < count; ++i) images.push_back(data::digit(seed, i).image), add(images.back());
  const explain::Fragment equals = explain::text_lines(std::vector<std::string>{"="}, {.size = explain::kTitle});
  row.svg += explain::placed(equals, row.width + kGap, kSide / 2 - equals.height / 2);
  row.width += 4 * kGap;
  add(mean_image(images));
  return row;
}

/// The mean of 4x(1 − x) over pixels x of 0 … 1: 0 where each is black or white, 1 where all are grey.
double greyness_of(std::span<const data::Image> images) {
  double sum = 0, count = 0;
  for (const data::Image& image : images) {
    for (const double pixel : image.pixels) sum += 4 * (pixel / 255) * (1 - pixel / 255), ++count;
  }
  return sum / count;
}

/// Letter by letter the mean of their places in the alphabet, rounded down: of "cat" and "dog" "chm".
std::string mean_word(std::string_view a, std::string_view b) {
  std::string mean;
  for (size_t i = 0; i < a.size(); ++i) mean += static_cast<char>((a[i] + b[i]) / 2);
  return mean;
}

void report_mean_words(Report& report) {
  constexpr std::array<std::string_view, 24> kWords{"cat", "dog", "cow", "hen", "pig", "fox", "bee", "ant",
                                                    "sun", "sky", "sea", "ice", "red", "old", "new", "hot",
                                                    "eat", "run", "sit", "say", "see", "the", "and", "not"};
  int64_t pairs = 0, words = 0;
  for (size_t i = 0; i < kWords.size(); ++i) {
    for (size_t j = 0; j < i; ++j, ++pairs) {
      words += std::ranges::find(kWords, mean_word(kWords[i], kWords[j])) != kWords.end();
    }
  }
  Table table{.title = "Means of two words, letter by letter", .head = {"Words", "Their mean"}, .words = true};
  for (size_t i = 0; i + 1 < 8; i += 2) {
    table.rows.push_back(
        {std::string(kWords[i]) + ", " + std::string(kWords[i + 1]), mean_word(kWords[i], kWords[i + 1])});
  }
  report.blocks.emplace_back(std::move(table));
  report.numbers["mean_words"] = {{"pairs", pairs}, {"words", words}};
  report.check("the mean of two words, letter by letter, is none of the words", 20 * words < pairs,
               std::to_string(words) + " of the " + std::to_string(pairs) + " pairs of " +
                   std::to_string(kWords.size()) + " words have one of them as their mean");
}

void check_mean_digits(Report& report) {
  constexpr int64_t kPairs = 200;
  std::vector<data::Image> digits, means;
  for (int64_t i = 0; i < kPairs; ++i) {
    const std::array pair{data::digit(11, 2 * i).image, data::digit(11, 2 * i + 1).image};
    means.push_back(mean_image(pair)), digits.insert(digits.end(), pair.begin(), pair.end());
  }
  const double mean = greyness_of(means), each = greyness_of(digits);
  report.numbers["greyness"] = {{"digits", each}, {"means_of_two", mean}};
  report.check("the mean of two digits is grey where digits are ink or paper", mean > 1.5 * each,
               fixed(mean / each, 1) + " times as grey as the digits");
}

}  // namespace

std::vector<Run> hard_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  const std::string common = quick ? "task=reverse model.embedding=32 model.hidden=64 train.steps=400 train.rate=6e-3 "
                                     "model.decoder.query=after model.attention.align="
                                   : "task=reverse train.epochs=8 model.decoder.query=after model.attention.align=";
  std::vector<Run> runs{{"softmax", common + "softmax"},
                        {kLearned, common + "sample model.reinforce.baseline=learned"}};
  if (quick) return runs;
  runs.push_back({"sample, moving average", common + "sample model.reinforce.baseline=moving_average"});
  runs.push_back({"sample, no baseline", common + "sample model.reinforce.baseline=none"});
  runs.push_back({"gumbel", common + "gumbel model.attention.cooling=1e-3"});
  runs.push_back({"sparsemax", common + "sparsemax"});
  runs.push_back({"sigmoid", common + "sigmoid"});
  return runs;
}

void hard_report(const Results& results, Report& report) {
  report.set_up =
      "Letters are said backwards by recurrent encoder-decoders that differ in how energies become weights: a mean "
      "over all places "
      "(softmax; sparsemax, which can leave places out; sigmoid, by which each place has a weight by itself), or one "
      "place, drawn and "
      "learned by reward (sample, REINFORCE), or drawn with a gradient that is not exact (gumbel). The largest alone "
      "(argmax) has no "
      "gradient; it is tried on what softmax has learned.";
  const std::vector<std::string> runs = results.runs(), scores{"exact", "chrf"};
  const auto chrf = [&](const char* run) { return results.score(run, "chrf").mean; };
  report.check("soft attention learns at least as well as drawn attention in the same time",
               chrf("softmax") > chrf(kLearned) - 1,
               "chrF " + fixed(chrf("softmax")) + " against " + fixed(chrf(kLearned)));
  if (!results.quick()) {
    report_argmax(results, report);
    report.check("drawn attention learns better with a baseline than without",
                 std::max(chrf(kLearned), chrf("sample, moving average")) > chrf("sample, no baseline"),
                 "chrF " + fixed(chrf(kLearned)) + " (learned), " + fixed(chrf("sample, moving average")) +
                     " (moving average) against " + fixed(chrf("sample, no baseline")));
  }
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.live({.text = "The same letters, by a mean over all places and by one place at a time.", .runs = runs});
  report.plot("curves", curve_plot(results, runs, "chrf"), "How they learned: validations of the first seed.");
  report_variance(results, report);
  report.text("What a mean is a mean of",
              "Soft attention hands on a mean of what it looks at. Of raw items that is nothing that ever was: the "
              "mean of a few "
              "digits is no digit. Of states that a network has learned to be averaged it is what the next layer "
              "expects, as the "
              "scores of softmax above show.");
  report_mean_words(report);
  check_mean_digits(report);
  report.figure(
      "averages",
      explain::svg_document(explain::stacked({averaged_row(3, 2), averaged_row(5, 3), averaged_row(9, 5)}, 10), 12),
      "Digits, and the mean of their pixels.");
  report.next = {
      {"attend train caption --model.attention.align sample --out hard && attend explain hard --example 0 --out "
       "hard.html",
       "Hard attention to images, where it was thought of (Xu et al. 2015):"}};
}

}  // namespace attend::lab
