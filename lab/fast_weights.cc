// fast-weights: attention as a layer whose weights depend on what it reads, beside a convolution whose weights do not.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/attention/observe.h"
#include "attend/autograd/tape.h"
#include "attend/base/joined.h"
#include "attend/data/utf8.h"
#include "attend/explain/animation.h"
#include "attend/explain/draw.h"
#include "attend/explain/report_page.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;

struct LayerRow {
  std::string_view name, score, align;
};
constexpr LayerRow kLayers[] = {{"softmax", "scaled_dot", "softmax"},
                                {"sigmoid", "scaled_dot", "sigmoid"},
                                {"convolution", "convolution", "linear"}};
constexpr std::string_view kAnywhere = "anywhere", kTwoBefore = "two before";

std::string layer_run(const LayerRow& layer, std::string_view asks) {
  return std::string(layer.name) + ", " + std::string(asks);
}

std::vector<std::string> words_in_text(const std::string& text) {
  const std::vector<std::string_view> words = data::split_words(text);
  return {words.begin(), words.end()};
}

/// Keeps the weights of self-attention over one text: [T,T].
struct LayerSink : Sink {
  Tensor weights;
  void observe(const Observation& one) override {
    if (one.purpose == Purpose::self) weights = one.weights.clone().reshape({one.weights.dim(2), one.weights.dim(3)});
  }
};

Tensor weights_over(const tasks::TaskModel& model, const std::string& text) {
  const tasks::Ready ready = model.ready({.inputs = {text}});
  const tasks::Ready* batch[] = {&ready};
  const TapePause pause;
  LayerSink sink;
  const Observing observing(sink);
  (void)model.model().begin(model.source(batch));
  require(sink.weights.defined(), "fast-weights: expected a network with one layer of self-attention, got none");
  return sink.weights;
}

/// Of many numbers.
struct Spread {
  double sum = 0, least = 1e9, most = -1e9;
  int64_t count = 0;

  void add(double value) { sum += value, least = std::min(least, value), most = std::max(most, value), ++count; }
  double mean() const { return sum / static_cast<double>(std::max<int64_t>(1, count)); }
};

/// Sums of the rows of weights, for words whose question has an answer in the text, and for the others.
using RowSums = std::array<Spread, 2>;

/// Of test texts.
void add_row_sums(const tasks::TaskModel& model, const tasks::Examples& examples, RowSums& sums) {
  constexpr int64_t kTexts = 200;
  for (int64_t i = 0; i < kTexts; ++i) {
    const tasks::Example example = examples.at(i);
    const Tensor weights = weights_over(model, example.text());
    const std::vector<std::string> answers = words_in_text(example.right.at(0));
    for (int64_t t = 0; t < weights.dim(0); ++t) {
      double sum = 0;
      for (int64_t k = 0; k < weights.dim(1); ++k) sum += static_cast<double>(weights.data()[t * weights.dim(1) + k]);
      sums[answers.at(static_cast<size_t>(t)) == "none"].add(sum);
    }
  }
}

void report_row_sums(const Results& results, Report& report) {
  report.text("Weights that need not sum to one",
              "A softmax has to look somewhere, also where there is nothing to find. A sigmoid weighs each place by "
              "itself: it can look at nothing, or at several places in full. The weights of a convolution may be "
              "negative, and where its reach ends with the text its sums do too.");
  Table table{.title = "Sums of the rows of weights, by whether what a word asks for is in the text",
              .head = {"Layer", "it is: mean", "least", "most", "it is not: mean", "least", "most"}};
  for (const LayerRow& layer : kLayers) {
    const std::string run = layer_run(layer, kAnywhere), name(layer.name);
    results.say(run + ": sums of weights");
    RowSums sums;
    for (const int64_t seed : results.seeds(run)) {
      add_row_sums(results.model(run, seed), results.test(run, seed).examples, sums);
    }
    const auto& [found, missing] = sums;
    table.rows.push_back({name});
    for (const Spread& one : sums) {
      for (const double value : {one.mean(), one.least, one.most}) table.rows.back().push_back(fixed(value, 2));
    }
    report.numbers["row_sums"][name] = {{"found", found.mean()}, {"missing", missing.mean()}};
    if (name != "sigmoid") continue;
    const double least = std::min(found.least, missing.least), most = std::max(found.most, missing.most);
    report.check("the weights of sigmoid need not sum to one, and do not", most - least > 0.2,
                 "the sums of its rows are from " + fixed(least, 2) + " to " + fixed(most, 2));
    report.check("a word that can find nothing looks at less in all", missing.mean() < found.mean() - 0.1,
                 "sum " + fixed(missing.mean(), 2) + " against " + fixed(found.mean(), 2) + ", as a mean");
  }
  report.blocks.emplace_back(std::move(table));
}

/// The first test text of so many words, then the same words in other orders.
std::vector<std::string> orders_of(const tasks::Examples& examples, size_t words, size_t count) {
  std::vector<std::string> text, all;
  for (int64_t i = 0; text.size() != words; ++i) text = words_in_text(examples.at(i).text());
  for (Random random(7); all.size() < count;) {
    all.push_back(joined(text, " "));
    for (size_t i = 0; i + 1 < words; ++i) std::swap(text[i], text[i + random.below(words - i)]);
  }
  return all;
}

/// How far a weight moves from one text to the next, as a mean over all pairs of places, and the largest weight of all.
struct Moves {
  double mean = 0, largest = 0;
};
Moves moves_of(const std::vector<Tensor>& texts) {
  Moves moves;
  const size_t size = texts[0].size();
  for (size_t n = 0; n < texts.size(); ++n) {
    for (size_t i = 0; i < size; ++i) {
      const double now = texts[n].data()[i], before = texts[n > 0 ? n - 1 : 0].data()[i];
      moves.mean += std::abs(now - before) / static_cast<double>(size * (texts.size() - 1));
      moves.largest = std::max(moves.largest, std::abs(now));
    }
  }
  return moves;
}

explain::Fragment layer_picture(const LayerRow& layer, const std::string& text, const Tensor& weights, double most) {
  const explain::Grid grid{.values = weights,
                           .rows = words_in_text(text),
                           .columns = words_in_text(text),
                           .look = {.is_signed = layer.align == "linear", .most = layer.align == "linear" ? most : 1},
                           .label = std::string(layer.name)};
  const std::vector<std::string> title{std::string(layer.name)};
  return explain::stacked({explain::text_lines(title, {.bold = true}), explain::draw_grid(grid, {.cell = 30})}, 8);
}

void report_animation(const Results& results, Report& report) {
  constexpr size_t kOrders = 6, kWordsShown = 6;
  constexpr double kSeconds = 2;
  const std::vector<std::string> orders =
      orders_of(results.test(layer_run(kLayers[0], kAnywhere)).examples, kWordsShown, kOrders);
  std::vector<std::vector<explain::Fragment>> pictures(kOrders);
  std::vector<double> share;  // by which a weight moves, of the largest
  for (const LayerRow& layer : kLayers) {
    const tasks::TaskModel model = results.model(layer_run(layer, kAnywhere));
    std::vector<Tensor> weights;
    for (const std::string& order : orders) weights.push_back(weights_over(model, order));
    const Moves moves = moves_of(weights);
    share.push_back(moves.mean / moves.largest);
    report.numbers["moved"][std::string(layer.name)] = share.back();
    for (size_t n = 0; n < kOrders; ++n) {
      pictures[n].push_back(layer_picture(layer, orders[n], weights[n], moves.largest));
    }
  }
  std::vector<explain::Fragment> frames;
  for (const std::vector<explain::Fragment>& one : pictures) frames.push_back(explain::beside(one, 28));
  report.text("Fast weights and slow ones",
              "The same six words in six orders, one after the other. What a convolution has learned are its weights. "
              "What attention has learned makes weights, anew for every text.");
  report.figure("weights", explain::svg_document(explain::animated(frames, kSeconds, "fast-weights"), 14),
                "The weights of the layer, two seconds for each order: each row is a word and looks at the columns. "
                "\"b=3,d?\" says that b is 3 and asks what d is. Attention looks for \"d=\" wherever it stands; the "
                "convolution looks at the same places whatever stands there (blue for, orange against).");
  report.check("the weights of attention follow the words, those of the convolution stay where they are",
               share[0] > 0.05 && share[1] > 0.05 && share[2] < 1e-6,
               "in another order a weight changes by " + fixed(100 * share[0]) + " % of the largest (softmax), " +
                   fixed(100 * share[1]) + " % (sigmoid), " + fixed(100 * share[2]) + " % (convolution)");
}

}  // namespace

std::vector<Run> fast_weights_runs(Scale scale) {
  // One layer of one head: what a word is told of the others comes through one matrix of weights.
  const std::string common =
      " model.output=softmax model.encoder.kind=transformer model.encoder.layers=1 model.encoder.heads=1 "
      "model.encoder.positions=none model.encoder.letters.kind=none model.encoder.dropout=0 model.encoder.size=48 "
      "model.encoder.hidden=96 batch.tokens=1000 train.epochs=0 train.rate=1e-2 train.steps=" +
      std::string(scale == Scale::quick ? "800 valid_sentences=100" : "2000");
  std::vector<Run> runs;
  for (const auto& [corpus, asks] : {std::pair{"lookup", kAnywhere}, {"lookback", kTwoBefore}}) {
    for (const LayerRow& layer : kLayers) {
      runs.push_back({layer_run(layer, asks), "task=tag corpus=" + std::string(corpus) + common +
                                                  " model.encoder.blocks.score=" + std::string(layer.score) +
                                                  " model.encoder.blocks.align=" + std::string(layer.align)});
    }
  }
  return runs;
}

void fast_weights_report(const Results& results, Report& report) {
  report.set_up =
      "Every word of a text says a fact and asks for another: \"b=3,d?\" says that b is 3 and asks what d is. It is "
      "answered word by word, with \"none\" where the fact is not in the text. In one corpus a word asks for a fact "
      "that stands anywhere; in the other always for the one two places before. The networks are one block of a "
      "Transformer with one head and no positions, and differ in the weights by which a word reads the others. "
      "Softmax attention and sigmoid attention compute theirs from what the words say. A convolution has one learned "
      "weight for each distance (up to eight places), the same for every text. Everything else is alike.";
  const std::vector<std::string> scores{"tag_accuracy"};
  const auto right = [&](const LayerRow& layer, std::string_view asks) {
    return results.score(layer_run(layer, asks), "tag_accuracy").mean;
  };
  const auto& [softmax, sigmoid, convolution] = kLayers;
  const double fixed_right = right(convolution, kAnywhere);
  for (const LayerRow& layer : {softmax, sigmoid}) {
    report.check("where it depends on the text what has to be looked at, " + std::string(layer.name) +
                     " attention is right and a convolution is not",
                 right(layer, kAnywhere) > fixed_right + 30,
                 fixed(right(layer, kAnywhere)) + " against " + fixed(fixed_right) + " %");
  }
  const double soft = right(softmax, kTwoBefore), by_itself = right(sigmoid, kTwoBefore);
  report.check("where it does not, a convolution is as right as attention",
               right(convolution, kTwoBefore) > std::max(soft, by_itself) - 2,
               fixed(right(convolution, kTwoBefore)) + " against " + fixed(soft) + " (softmax) and " +
                   fixed(by_itself) + " % (sigmoid)");
  report.blocks.emplace_back(score_table(results, results.runs(), scores, report.numbers));
  for (const std::string_view asks : {kAnywhere, kTwoBefore}) {
    std::vector<std::string> runs;
    for (const LayerRow& layer : kLayers) runs.push_back(layer_run(layer, asks));
    report.plot(asks == kAnywhere ? "curves-anywhere" : "curves-two-before", curve_plot(results, runs, "tag_accuracy"),
                "Words that ask for what stands " + std::string(asks) + ": validations of the first seed.");
  }
  report_animation(results, report);
  report_row_sums(results, report);
  report.next = {
      {"attend explain DIR/models/sigmoid-anywhere \"b=3,d? d=5,b? c=1,f?\" --site encoder.self --out looked.html",
       "See where the words of a text of your own look:"},
      {"attend train tag --corpus lookup --model.encoder.kind transformer --model.encoder.blocks.align sparsemax "
       "--out own",
       "Another align:"}};
}

}  // namespace attend::lab
