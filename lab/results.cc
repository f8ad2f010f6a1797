#include "lab/results.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/replacement.h"
#include "attend/explain/report_page.h"
#include "attend/tasks/facts.h"
#include "attend/tasks/model_folder.h"

namespace attend::lab {
namespace {

namespace fs = std::filesystem;
using explain::fixed;
using nlohmann::ordered_json;

constexpr std::pair<double, double> kPercent{0, 100};

ordered_json json_of(const Estimate& estimate) {
  if (estimate.count == 0) return nullptr;
  return {{"mean", estimate.mean}, {"standard_error", estimate.error}, {"seeds", estimate.count}};
}

/// A heading for a score's column: "Exact %".
std::string title_of(const std::string& score) {
  return score == "aer" ? "AER" : std::string(train::score_named(score).title);
}

int digits_of(const std::string& score) { return score == "aer" ? 3 : 1; }

std::string in_thousands(int64_t count) {
  return count < 10000 ? std::to_string(count) : fixed(static_cast<double>(count) / 1000, count < 100000 ? 1 : 0) + "k";
}

}  // namespace

std::string Estimate::text(int digits) const {
  if (count == 0 || !std::isfinite(mean)) return "–";
  return fixed(mean, digits) + (count > 1 ? " ± " + fixed(error, digits) : "");
}

Estimate estimate_of(std::span<const double> values) {
  Estimate estimate{.count = static_cast<int64_t>(values.size())};
  if (values.empty()) return estimate;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) estimate.mean += value / n;
  if (values.size() < 2) return estimate;
  double squares = 0;
  for (const double value : values) squares += (value - estimate.mean) * (value - estimate.mean);
  estimate.error = std::sqrt(squares / (n - 1) / n);  // of the mean
  return estimate;
}

Results::Results(Scale scale, std::vector<Trained> trained, Say say)
    : scale_(scale), trained_(std::move(trained)), say_(std::move(say)) {}

std::vector<std::string> Results::runs() const {
  std::vector<std::string> names;
  for (const Trained& model : trained_) {
    if (std::ranges::find(names, model.run) == names.end()) names.push_back(model.run);
  }
  return names;
}

std::vector<int64_t> Results::seeds(const std::string& run) const {
  std::vector<int64_t> seeds;
  for (const Trained& model : trained_) {
    if (model.run == run) seeds.push_back(model.seed);
  }
  return seeds;
}

const Trained& Results::trained(const std::string& run, int64_t seed) const {
  const auto found = std::ranges::find_if(trained_, [&](const Trained& t) { return t.run == run && t.seed == seed; });
  require(found != trained_.end(), "expected a run of this experiment, got ", run, " with seed ", seed);
  return *found;
}

tasks::TaskModel Results::model(const std::string& run, int64_t seed) const {
  return tasks::TaskModel::load(trained(run, seed).folder);
}

const tasks::TestSet& Results::test(const std::string& run, int64_t seed) const {
  const fs::path& folder = trained(run, seed).folder;
  const auto found = tests_.find(folder);
  if (found != tests_.end()) return found->second;
  return tests_.emplace(folder, tasks::test_set(tasks::read_config(folder), {})).first->second;
}

const tasks::Measured& Results::measured(const std::string& run, int64_t seed) const {
  const fs::path& folder = trained(run, seed).folder;
  const auto found = measured_.find(folder);
  if (found != measured_.end()) return found->second;
  const tasks::TestSet& set = test(run, seed);
  const std::string of = "/" + std::to_string(set.examples.count);
  const std::vector<size_t> shown = tasks::examples_to_show(set.examples);
  const auto done = [&](int64_t answered) { say_(run + ": answering " + std::to_string(answered) + of); };
  return measured_.emplace(folder, tasks::measure(folder, set, shown, done)).first->second;
}

tasks::Curve Results::curve(const std::string& run, std::string_view score, int64_t seed) const {
  return tasks::read_curve(trained(run, seed).folder, train::score_named(score));
}

Estimate Results::over_seeds(const std::string& run, const std::function<double(int64_t seed)>& value) const {
  std::vector<double> values;
  for (const int64_t seed : seeds(run)) values.push_back(value(seed));
  return estimate_of(values);
}

Estimate Results::score(const std::string& run, const std::string& name) const {
  return over_seeds(run, [&](int64_t seed) {
    const tasks::Measured& found = measured(run, seed);
    if (name == "aer") return found.alignment ? found.alignment->error_rate : std::nan("");
    const auto score = found.scores.find(name);
    return score == found.scores.end() ? std::nan("") : score->second;
  });
}

Estimate Results::seconds(const std::string& run) const {
  return over_seeds(
      run, [&](int64_t seed) { return tasks::facts_of(trained(run, seed).folder).seconds.value_or(std::nan("")); });
}

int64_t Results::parameters(const std::string& run) const { return measured(run, seeds(run).at(0)).parameters; }

std::vector<train::LengthGroup> Results::groups(bool letters) const {
  const std::vector<int64_t> lengths =
      tasks::source_lengths(test(trained_.at(0).run, trained_[0].seed).examples, letters);
  return train::length_groups(lengths, std::max<int64_t>(10, static_cast<int64_t>(lengths.size()) / 50));
}

std::vector<Estimate> Results::by_length(const std::string& run, const std::string& score,
                                         std::span<const train::LengthGroup> groups, bool letters) const {
  std::vector<std::vector<double>> of_groups(groups.size());
  for (const int64_t seed : seeds(run)) {
    const std::vector<int64_t> lengths = tasks::source_lengths(test(run, seed).examples, letters);
    const std::vector<double> scores =
        train::score_by_length(train::score_named(score), measured(run, seed).judged, lengths, groups);
    for (size_t i = 0; i < groups.size(); ++i) of_groups[i].push_back(scores[i]);
  }
  std::vector<Estimate> estimates;
  for (const std::vector<double>& scores : of_groups) estimates.push_back(estimate_of(scores));
  return estimates;
}

Table score_table(const Results& results, std::span<const std::string> runs, std::span<const std::string> scores,
                  ordered_json& numbers) {
  Table table{.head = {"Model"}};
  for (const std::string& score : scores) table.head.push_back(title_of(score));
  table.head.insert(table.head.end(), {"Parameters", "Training, s"});
  for (const std::string& run : runs) {
    std::vector<std::string> row{run};
    for (const std::string& score : scores) {
      const Estimate estimate = results.score(run, score);
      row.push_back(estimate.text(digits_of(score)));
      numbers["scores"][run][score] = json_of(estimate);
    }
    const Estimate seconds = results.seconds(run);
    row.push_back(in_thousands(results.parameters(run)));
    row.push_back(seconds.text(0));
    numbers["scores"][run]["parameters"] = results.parameters(run);
    numbers["scores"][run]["seconds"] = json_of(seconds);
    table.rows.push_back(std::move(row));
  }
  return table;
}

explain::Plot length_plot(const Results& results, std::span<const std::string> runs, const std::string& score,
                          bool letters, ordered_json& numbers) {
  const std::vector<train::LengthGroup> groups = results.groups(letters);
  const std::string unit(train::score_named(score).unit);
  explain::Plot plot{.title = "By length of the source",
                     .x_label = std::string(letters ? "letters" : "words") + " in the source (examples)",
                     .y_label = unit,
                     .series = {},
                     .categories = {},
                     .bounds = kPercent};
  for (const train::LengthGroup& group : groups) {
    plot.categories.push_back(group.text() + " (" + std::to_string(group.count) + ")");
  }
  for (const std::string& run : runs) {
    explain::Series series{run, {}, {}};
    const std::vector<Estimate> estimates = results.by_length(run, score, groups, letters);
    for (size_t i = 0; i < groups.size(); ++i) {
      series.xs.push_back(static_cast<double>(i)), series.ys.push_back(estimates[i].mean);
      numbers["by_length"][run][groups[i].text()] = json_of(estimates[i]);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

explain::Plot curve_plot(const Results& results, std::span<const std::string> runs, const std::string& score) {
  const std::string unit(train::score_named(score).unit);
  explain::Plot plot{
      .title = "In validation, by step", .x_label = "step", .y_label = unit, .series = {}, .bounds = kPercent};
  for (const std::string& run : runs) {
    const tasks::Curve curve = results.curve(run, score, results.seeds(run).at(0));
    plot.series.push_back({run, curve.steps, curve.score});
  }
  return plot;
}

}  // namespace attend::lab
