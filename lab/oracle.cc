// oracle: a decoder that is told the gold alignment, one that learns where to look, and one that cannot look.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "attend/data/utf8.h"
#include "attend/explain/alignment.h"
#include "attend/explain/draw.h"
#include "attend/explain/report_page.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;

constexpr const char *kRunTold = "told", *kRunLearned = "learned", *kRunBlind = "no attention";

std::vector<std::string> words_of(const std::string& text) {
  const std::vector<std::string_view> words = data::split_words(text);
  return {words.begin(), words.end()};
}

/// What each word of the right answer looks at as the network says it: [target words, source words].
Tensor looked(const tasks::TaskModel& model, const tasks::Example& example) {
  const data::Batch batch = model.batch(std::span(&example, 1));
  const std::vector<int32_t> source = model.input().tokeniser()->tokenise(example.text()).word_of;
  const std::vector<int32_t> target = model.output().words()->tokenise(example.right[0]).word_of;
  return explain::word_weights(explain::memory_weights(model.model(), batch).at(0), source, target,
                               std::ssize(words_of(example.text())), std::ssize(words_of(example.right[0])));
}

/// The source words that each word of the right answer corresponds to.
std::vector<std::vector<int32_t>> gold_of(const tasks::Example& example) {
  std::vector<std::vector<int32_t>> all(words_of(example.right[0]).size());
  for (const data::Link& link : example.links) all.at(static_cast<size_t>(link.target)).push_back(link.source);
  return all;
}

/// Where the weight of words goes that correspond to two words, such as "going" to "ja rahi".
struct Shared {
  double first = 0, second = 0;  ///< means of their weights, in the order of the source
  double larger = 0;             ///< mean weight of whichever of the two has more
  int64_t words = 0;
};

Shared shared_of(const tasks::TaskModel& model, const tasks::Examples& examples, int64_t count) {
  Shared all;
  for (int64_t i = 0; i < std::min(count, examples.count); ++i) {
    const tasks::Example example = examples.at(i);
    const Tensor weights = looked(model, example);
    const std::vector<std::vector<int32_t>> gold = gold_of(example);
    for (size_t t = 0; t < gold.size(); ++t) {
      if (gold[t].size() != 2) continue;
      const real* row = weights.data() + static_cast<int64_t>(t) * weights.dim(1);
      const double first = row[gold[t][0]], second = row[gold[t][1]];
      all.first += first, all.second += second, all.larger += std::max(first, second), ++all.words;
    }
  }
  const auto words = static_cast<double>(std::max<int64_t>(1, all.words));
  all.first /= words, all.second /= words, all.larger /= words;
  return all;
}

/// A matrix over its two sentences, with a heading.
explain::Fragment matrix(const std::string& title, const Tensor& weights, const tasks::Example& example) {
  const explain::Grid grid{.values = weights,
                           .rows = words_of(example.right[0]),
                           .columns = words_of(example.text()),
                           .look = {.most = 1},
                           .label = title};
  return explain::stacked(
      {explain::text_lines(std::vector<std::string>{title}, {.bold = true}), explain::draw_grid(grid, {.cell = 30})},
      8);
}

Tensor gold_matrix(const tasks::Example& example) {
  const std::vector<std::vector<int32_t>> gold = gold_of(example);
  const int64_t columns = std::ssize(words_of(example.text()));
  Tensor weights = Tensor::zeros({std::ssize(gold), columns});
  for (size_t t = 0; t < gold.size(); ++t) {
    for (const int32_t s : gold[t]) {
      weights.data()[static_cast<int64_t>(t) * columns + s] = 1 / static_cast<real>(gold[t].size());
    }
  }
  return weights;
}

/// The first test sentences of a middling length in which a word corresponds to two.
std::vector<tasks::Example> shown_examples(const tasks::Examples& examples, size_t count) {
  constexpr size_t kLeast = 5, kMost = 8;
  std::vector<tasks::Example> shown;
  for (int64_t i = 0; i < examples.count && shown.size() < count; ++i) {
    tasks::Example example = examples.at(i);
    const size_t words = words_of(example.text()).size();
    const auto shares = [](const std::vector<int32_t>& places) { return places.size() == 2; };
    if (words < kLeast || words > kMost || std::ranges::none_of(gold_of(example), shares)) continue;
    shown.push_back(std::move(example));
  }
  return shown;
}

void report_matrices(const Results& results, Report& report) {
  const tasks::TaskModel learned = results.model(kRunLearned);
  std::vector<explain::Fragment> rows;
  for (const tasks::Example& example : shown_examples(results.test(kRunLearned).examples, 3)) {
    rows.push_back(explain::beside({matrix("gold, as it is told", gold_matrix(example), example),
                                    matrix("learned", looked(learned, example), example)},
                                   40));
  }
  report.figure(
      "matrices", explain::svg_document(explain::stacked(rows, 26), 14),
      "Rows: the English words as they are said; columns: the Hindi words that each looks at. To the left what the one "
      "is told, to the right what the other has learned to look at in the same sentence, both with the right words "
      "before. Empty rows are words that correspond to nothing.");
}

void report_shared(const Results& results, Report& report) {
  Table table{.title = "The weight of English words that correspond to two Hindi words, in percent",
              .head = {"Model", "first (ja)", "second (rahi)", "elsewhere", "larger of the two"}};
  const int64_t count = results.quick() ? 100 : 1000;
  Shared learned;
  for (const char* run : {kRunTold, kRunLearned}) {
    results.say(std::string(run) + ": words with two counterparts");
    const Shared found = shared_of(results.model(run), results.test(run).examples, count);
    if (run == kRunLearned) learned = found;
    table.rows.push_back({run, fixed(100 * found.first), fixed(100 * found.second),
                          fixed(100 * (1 - found.first - found.second)), fixed(100 * found.larger)});
    report.numbers["two_counterparts"][run] = {
        {"first", found.first}, {"second", found.second}, {"larger", found.larger}, {"words", found.words}};
  }
  report.blocks.emplace_back(std::move(table));
  report.check("who learns where to look does not share half and half: one of the two words is enough",
               learned.larger > 0.6,
               "the larger of the two has " + fixed(100 * learned.larger) + " % of the weight, where it is told 50");
}

/// The step at which half of the validation is right, between two validations in proportion, as a mean over seeds; twice the
/// last one where it never is.
double steps_to_half(const Results& results, const std::string& run) {
  constexpr double kHalf = 50;
  return results
      .over_seeds(run,
                  [&](int64_t seed) {
                    const tasks::Curve curve = results.curve(run, "exact", seed);
                    double step = 0, exact = 0;
                    for (size_t i = 0; i < curve.steps.size(); ++i) {
                      const double next = curve.steps[i], rise = curve.score[i] - exact;
                      if (curve.score[i] >= kHalf) return step + (next - step) * (kHalf - exact) / rise;
                      step = next, exact = curve.score[i];
                    }
                    return 2 * step;
                  })
      .mean;
}

/// How often a word was said in place of another, in answers that have as many words as the right ones.
using Mistakes = std::map<std::pair<std::string, std::string>, int64_t>;

Mistakes mistakes_of(const train::Judged& judged) {
  Mistakes mistakes;
  for (size_t i = 0; i < judged.outputs.size(); ++i) {
    const std::vector<std::string> said = words_of(judged.outputs[i]), right = words_of(judged.right[i].at(0));
    for (size_t t = 0; said.size() == right.size() && t < right.size(); ++t) {
      if (said[t] != right[t]) ++mistakes[{right[t], said[t]}];
    }
  }
  return mistakes;
}

void report_mistakes(const Results& results, Report& report) {
  Table table{.title = "Words that were mistaken, of 1,000 test sentences",
              .head = {"Model", "he or she", "most frequent others", "all"},
              .words = true};
  double sexes[2] = {};
  for (const char* run : {kRunTold, kRunLearned}) {
    const Mistakes mistakes = mistakes_of(results.measured(run).judged);
    std::vector<std::pair<int64_t, std::string>> others;
    int64_t all = 0, of_sex = 0;
    for (const auto& [words, count] : mistakes) {
      const auto& [right, said] = words;
      const bool sex = (right == "he" && said == "she") || (right == "she" && said == "he");
      all += count, of_sex += sex ? count : 0;
      if (!sex) others.emplace_back(-count, right + " → " + said);
    }
    std::ranges::sort(others);
    std::string most;
    for (size_t i = 0; i < std::min<size_t>(3, others.size()); ++i) most += (i > 0 ? ", " : "") + others[i].second;
    table.rows.push_back({run, std::to_string(of_sex), most, std::to_string(all)});
    report.numbers["mistakes"][run] = {{"he_or_she", of_sex}, {"all", all}};
    sexes[run == kRunLearned] = static_cast<double>(of_sex);
  }
  report.text(
      "What a word comes from is not all that has to be known",
      "\"woh\" is he or she: only the verb tells (raha, rahi). The gold alignment of he is woh alone, so that who is "
      "told where to look does not look at the verb; who finds out may, where it helps.");
  report.blocks.emplace_back(std::move(table));
  report.check("who is told to look at a word alone mistakes he for she more often", sexes[0] > 2 * sexes[1],
               fixed(sexes[0], 0) + " against " + fixed(sexes[1], 0) + " times");
}

}  // namespace

std::vector<Run> oracle_runs(Scale scale) {
  const std::string common =
      scale == Scale::quick
          ? "task=translate corpus=english model.embedding=32 model.hidden=64 model.dropout=0 "
            "train.steps=400 train.rate=1e-2 valid_sentences=100 train.validate_every=50"
          : "task=translate corpus=english train.epochs=3 train.validate_every=60 valid_sentences=100";
  return {{kRunTold, common + " model.decoder.oracle=true"},
          {kRunLearned, common},
          {kRunBlind, common + " model.decoder.input=bridge model.decoder.query=before model.decoder.feeding=false"}};
}

void oracle_report(const Results& results, Report& report) {
  report.set_up =
      "Romanised Hindi to English: 30,000 sentences of a grammar that knows which words correspond. Three recurrent "
      "encoder-decoders. One is told for every word where to look: at the words that it corresponds to, half and half "
      "where these are two (\"going\" is \"ja rahi\"), and at nothing where there is none (\"the\") or the sentence "
      "is over. One learns where to look. One gets the encoder's last state and cannot look. The one that is told gets "
      "the alignment of the right answer in training, in validation and in the test: it is an oracle, which no "
      "translator has, and it can tell from it which word is due, and when to stop.";
  const std::vector<std::string> runs = results.runs(), scores{"exact", "bleu", "aer"};
  const auto exact = [&](const char* run) { return results.score(run, "exact").mean; };
  const double told = steps_to_half(results, kRunTold), learned = steps_to_half(results, kRunLearned);
  report.numbers["steps_to_half"] = {{kRunTold, told}, {kRunLearned, learned}};
  report.check("told where to look, a decoder is right sooner than one that has to find out", told < 0.85 * learned,
               "half of its answers are right after " + fixed(told, 0) + " steps, against " + fixed(learned, 0));
  if (!results.quick()) {
    report.check("but not more often in the end", exact(kRunTold) < exact(kRunLearned) + 1,
                 fixed(exact(kRunTold)) + " against " + fixed(exact(kRunLearned)) + " % exact");
  }
  report.check("a decoder that finds out where to look is right more often than one that cannot look",
               exact(kRunLearned) > exact(kRunBlind) + 5,
               fixed(exact(kRunLearned)) + " against " + fixed(exact(kRunBlind)) + " % exact");
  const double aer = results.score(kRunLearned, "aer").mean;
  report.check("where it looks is mostly where it would have been told to", aer < 0.35,
               "alignment error rate " + fixed(aer, 3));
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.text(
      "",
      "The alignment error rate counts for each word the one place that it looked at most. So even the gold alignment "
      "has one, of the words that look at two places.");
  report.plot("curves", curve_plot(results, runs, "exact"), "How they learned: validations of the first seed.");
  if (!results.quick()) report_mistakes(results, report);
  report.text("Half and half",
              "Nothing tells the learning one that a word has two counterparts, and it does not need both.");
  report_matrices(results, report);
  report_shared(results, report);
  report.next = {{"attend explain DIR/models/learned \"main ghar ja rahi hoon\" --out looked.html",
                  "See where the one that learned looks:"},
                 {"attend train translate --corpus english --model.decoder.oracle true --out told",
                  "A network that is told, which then answers only where somebody tells it:"}};
}

}  // namespace attend::lab
