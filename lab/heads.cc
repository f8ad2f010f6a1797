// heads: one to sixteen of them at equal size, and what is lost when one is removed.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "attend/explain/report_page.h"
#include "attend/tasks/explanation.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;

constexpr int64_t kRemovedFrom = 4;  // heads of the model whose heads are removed

std::string run_of(int64_t heads) { return std::to_string(heads) + (heads == 1 ? " head" : " heads"); }

/// Sets the weights to zero by which a head reaches the output of its attention: columns of the output projection [D, heads·d].
void remove_head(tasks::TaskModel& model, const std::string& attention, int64_t head, int64_t heads) {
  model.model().params([&](const std::string& name, Var& parameter) {
    if (name != attention + ".output.weight") return;
    Tensor& weight = parameter.value();
    const int64_t rows = weight.dim(0), columns = weight.dim(1), width = columns / heads;
    for (int64_t row = 0; row < rows; ++row) {
      std::fill_n(weight.data() + row * columns + head * width, width, real{0});
    }
  });
}

/// The attentions of a model by the names of their weights: "decoder.0.memory".
std::vector<std::string> attentions_of(tasks::TaskModel& model) {
  constexpr std::string_view kEnd = ".output.weight";
  std::vector<std::string> names;
  model.model().params([&](const std::string& name, Var&) {
    if (name.ends_with(kEnd) && (name.find(".self.") != name.npos || name.find(".memory.") != name.npos)) {
      names.push_back(name.substr(0, name.size() - kEnd.size()));
    }
  });
  return names;
}

double bleu_of(const tasks::TaskModel& model, const tasks::Examples& examples) {
  const tasks::Scored scored = tasks::evaluate(model, examples, {.answer = {.search = {.beam = 1}}, .most = 300});
  return scored.scores(model.row()).at("bleu");
}

/// Where a head has its weight, in percent: means over the words that looked.
struct Habit {
  double before = 0, same = 0, after = 0;  ///< on the place before its own, its own, the one after
  double last = 0, largest = 0;            ///< on the last place of all; the largest of its weights
};

/// Adds one head's weights of [heads,Tq,Tk], the mean over its Tq rows.
void add_habit(Habit& habit, const Tensor& weights, int64_t head) {
  const int64_t queries = weights.dim(1), keys = weights.dim(2);
  const double share = 100 / static_cast<double>(queries);
  for (int64_t q = 0; q < queries; ++q) {
    const real* row = weights.data() + (head * queries + q) * keys;
    const auto at = [&](int64_t k) { return k >= 0 && k < keys ? share * static_cast<double>(row[k]) : 0; };
    habit.before += at(q - 1), habit.same += at(q), habit.after += at(q + 1), habit.last += at(keys - 1);
    habit.largest += share * static_cast<double>(*std::max_element(row, row + keys));
  }
}

/// What each head looks at, over some sentences of the test with their right answers.
Table habits_of(const tasks::TaskModel& model, const tasks::Examples& examples, nlohmann::ordered_json& numbers) {
  constexpr int64_t kSentences = 50;
  std::map<std::string, std::vector<Habit>> habits;
  for (int64_t i = 0; i < kSentences; ++i) {
    const tasks::Example example = examples.at(i);
    const auto trace = std::get<explain::Trace>(tasks::explain(model, example, {.target = example.right.at(0)}));
    for (const explain::TraceSite& site : trace.sites) {
      std::vector<Habit>& heads = habits[site.site + ", layer " + std::to_string(site.layer)];
      heads.resize(static_cast<size_t>(site.heads));
      for (int64_t head = 0; head < site.heads; ++head) add_habit(heads[static_cast<size_t>(head)], site.weights, head);
    }
  }
  Table table{.title = "Where each head has its weight, in percent",
              .head = {"Attention", "place before", "same place", "place after", "last place", "largest weight"}};
  for (const auto& [attention, heads] : habits) {
    for (size_t head = 0; head < heads.size(); ++head) {
      const std::string name = attention + ", head " + std::to_string(head);
      table.rows.push_back({name});
      for (const double sum :
           {heads[head].before, heads[head].same, heads[head].after, heads[head].last, heads[head].largest}) {
        table.rows.back().push_back(fixed(sum / kSentences, 0));
        numbers["habits"][name].push_back(sum / kSentences);
      }
    }
  }
  return table;
}

/// BLEU without each head of each attention, and the smallest and largest loss.
void report_removal(const Results& results, Report& report) {
  const std::string run = run_of(kRemovedFrom);
  const tasks::Examples& examples = results.test(run).examples;
  tasks::TaskModel whole = results.model(run);
  const double all = bleu_of(whole, examples);
  Table table{.title = "BLEU that is lost without one head", .head = {"Attention"}};
  for (int64_t head = 0; head < kRemovedFrom; ++head) table.head.push_back("head " + std::to_string(head));
  double least = 100, most = -100;
  for (const std::string& attention : attentions_of(whole)) {
    table.rows.push_back({attention});
    for (int64_t head = 0; head < kRemovedFrom; ++head) {
      results.say("without head " + std::to_string(head) + " of " + attention);
      tasks::TaskModel model = results.model(run);
      remove_head(model, attention, head, kRemovedFrom);
      const double lost = all - bleu_of(model, examples);
      least = std::min(least, lost), most = std::max(most, lost);
      table.rows.back().push_back(fixed(lost));
      report.numbers["lost_without"][attention].push_back(lost);
    }
  }
  report.text("What each head does",
              "In the model with " + run +
                  ", the weights by which one head reaches the output of its attention are set to zero; "
                  "nothing is trained again. BLEU of the whole model, by greedy search on 300 sentences: " +
                  fixed(all) + ".");
  report.blocks.emplace_back(std::move(table));
  report.text("",
              "Some heads look at a fixed place beside their own, some at the end of the sentence, which is to say at "
              "nothing, and some spread their weight. Keys of decoder.self are the words that were said before, so "
              "that the same place is the last word that was said; of decoder.memory, places are those of the source.");
  report.blocks.emplace_back(habits_of(whole, examples, report.numbers));
  report.live({.text = "Go through the heads one by one: some follow the words, others rest.",
               .runs = {run},
               .sliders = {"head", "length"}});
  report.check("some heads cost nothing to remove, others much", least < 1 && most > 5,
               "from " + fixed(least) + " to " + fixed(most) + " BLEU");
}

}  // namespace

std::vector<Run> heads_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  const std::string common =
      "task=translate model.name=transformer model.label_smoothing=0 " +
      std::string(
          quick ? "model.size=32 model.hidden=64 model.encoder_layers=1 model.decoder_layers=1 model.dropout=0 "
                  "train.steps=350 "
                  "train.rate=6e-3 valid_sentences=100"
                : "model.size=64 model.hidden=256 model.encoder_layers=2 model.decoder_layers=2 model.dropout=0.1 "
                  "train.epochs=8 train.rate=2e-3") +
      " model.heads=";
  std::vector<Run> runs;
  for (const int64_t heads : quick ? std::vector<int64_t>{4} : std::vector<int64_t>{1, 2, 4, 8, 16}) {
    runs.push_back({run_of(heads), common + std::to_string(heads)});
  }
  return runs;
}

void heads_report(const Results& results, Report& report) {
  report.set_up =
      "English sentences to romanised Hindi, by small Transformers that differ in their number of heads alone: all "
      "heads together "
      "have the same width, so that all models have the same number of parameters.";
  const std::vector<std::string> runs = results.runs(), scores{"exact", "bleu", "aer"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  if (!results.quick()) {
    const Estimate one = results.score(run_of(1), "exact");
    Estimate best = one;
    for (const std::string& run : runs) {
      const Estimate exact = results.score(run, "exact");
      if (exact.mean > best.mean) best = exact;
    }
    report.check("several heads are better than one of the same width together", best.mean > one.mean + 1,
                 best.text() + " against " + one.text() + " % exact");
  }
  report_removal(results, report);
  report.next = {
      {"attend explain DIR/models/4-heads \"she is reading my book\" --out heads.html", "See every head at work:"}};
}

}  // namespace attend::lab
