#include "lab/experiment.h"

#include <algorithm>
#include <sstream>

#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "lab/experiments.h"
#include "lab/story.h"

namespace attend::lab {
namespace {

constexpr Experiment kExperiments[] = {
    {"told", "How a decoder is told of its input",
     "A decoder that looks at its input is right where one that is told of it in a single vector is not.", 15, 3,
     told_runs, told_report},
    {"bottleneck", "What one vector forgets", "One vector forgets long sentences; attention does not.", 45, 1,
     bottleneck_runs, bottleneck_report},
    {"scores", "How a query is compared with a key",
     "Any score that looks at what was read will do; a dot product has to be scaled when it is wide.", 15, 2,
     scores_runs, scores_report},
    {"windows", "Global and local attention",
     "A window that goes where the query says loses nothing; one that stays at the same place loses much.", 8, 3,
     windows_runs, windows_report},
    {"hard-or-soft", "Choosing one place, or a mean of all",
     "Soft attention learns surely; hard attention is learned by reward, whose gradient is noisy without a baseline.",
     20, 2, hard_runs, hard_report},
    {"oracle", "Told where to look",
     "Told where to look, a decoder is right sooner, but not more often; who cannot look at all is left behind.", 15, 1,
     oracle_runs, oracle_report},
    {"fast-weights", "Weights that depend on the input",
     "Attention makes its weights anew for every text, and finds what a convolution with fixed weights cannot.", 2, 2,
     fast_weights_runs, fast_weights_report},
    {"pick-an-item", "Attention without an encoder",
     "To pick items by what they are takes attention alone; by where they stand, an encoder too.", 5, 2, pick_runs,
     pick_report},
    {"positions", "What a Transformer knows of order",
     "Without positions word order is invisible; with them, lengths that were never seen still are.", 5, 1,
     positions_runs, positions_report},
    {"heads", "What each head does", "Several heads see more than one of the same size, and some of them can go.", 10,
     2, heads_runs, heads_report},
    {"depth", "How deep, and what it takes", "A deep Transformer needs its residuals and its norms.", 30, 1, depth_runs,
     depth_report},
    {"recurrent-or-transformer", "Recurrent network or Transformer",
     "A Transformer trains faster; the longer the text, the more each of its words costs.", 9, 2, rivals_runs,
     rivals_report},
    {"coverage", "Said twice, or never",
     "A decoder that knows what it has read says fewer words twice, and forgets fewer.", 30, 1, coverage_runs,
     coverage_report},
    {"autoencode", "Through a bottleneck and back",
     "The wider the bottleneck, the more comes back; codes can be mixed where pixels cannot, and drawn if they are "
     "variational.",
     3, 1, autoencode_runs, autoencode_report},
    {"memory", "What a recurrent network remembers",
     "A recurrent network that attends to its own past remembers over long distances sooner than one that does not.", 4,
     2, recall_runs, recall_report},
    {"glimpse-cost", "What a larger image costs", "Hard attention costs no more for a larger image.", 15, 1,
     glimpse_cost_runs, glimpse_cost_report},
    {"tiles", "One tile, or all by their share",
     "Tiles drawn one by one are chosen for what they show; the expectation over all of them is at least as right.", 3,
     1, tiles_runs, tiles_report},
    {"rewards", "What looking is paid for",
     "The same glimpse network with another reward on another task learns to look in another way.", 3, 1, rewards_runs,
     rewards_report},
    {"saliency", "Where it looked, and what it depended on",
     "Attention and gradients point to the same places far more often than by chance.", 20, 1, saliency_runs,
     saliency_report},
};

}  // namespace

SettingList Run::list() const {
  SettingList list;
  std::istringstream in(settings);
  for (std::string word; in >> word;) {
    const size_t equals = word.find('=');
    require(equals != std::string::npos, "expected key=value, got ", quoted(word), " in the run ", quoted(name));
    list.push_back({word.substr(0, equals), word.substr(equals + 1), "the run " + quoted(name)});
  }
  return list;
}

std::span<const Experiment> experiments() { return kExperiments; }

const Experiment& experiment_named(std::string_view name) { return row_named("experiment", experiments(), name); }

namespace {

std::vector<std::string> words_of_settings(const Run& run) {
  std::vector<std::string> words;
  std::istringstream in(run.settings);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string command_of(const Experiment& experiment, const Results& results) {
  const auto seeds = static_cast<int64_t>(results.seeds(results.runs().at(0)).size());
  const int64_t usual = results.quick() ? 1 : experiment.seeds;
  return "attend lab " + std::string(experiment.name) + (results.quick() ? " --quick" : "") +
         (seeds == usual ? "" : " --seeds " + std::to_string(seeds));
}

/// What all runs have in common, and a table of what sets each apart.
void report_runs(const std::vector<Run>& runs, const Results& results, Report& report) {
  std::vector<std::string> shared = words_of_settings(runs.at(0));
  for (const Run& run : runs) {
    const std::vector<std::string> words = words_of_settings(run);
    std::erase_if(shared, [&](const std::string& word) { return std::ranges::find(words, word) == words.end(); });
  }
  report.common = joined(shared, " ");
  report.runs = {.title = "The models", .head = {"Model", "Options of its own", "Seeds"}, .words = true};
  for (const Run& run : runs) {
    std::vector<std::string> own = words_of_settings(run);
    std::erase_if(own, [&](const std::string& word) { return std::ranges::find(shared, word) != shared.end(); });
    report.runs.rows.push_back({run.name, joined(own, " "), std::to_string(results.seeds(run.name).size())});
  }
}

}  // namespace

Report report_of(const Experiment& experiment, const Results& results) {
  Report report{.name = std::string(experiment.name),
                .title = std::string(experiment.title),
                .claim = std::string(experiment.claim),
                .number = 1 + std::ranges::distance(std::begin(kExperiments), &experiment),
                .quick = results.quick(),
                .command = command_of(experiment, results)};
  const std::vector<Run> runs = experiment.runs(results.quick() ? Scale::quick : Scale::full);
  report_runs(runs, results, report);
  experiment.report(results, report);
  const auto is_live = [](const Block& block) { return std::holds_alternative<Live>(block); };
  if (std::ranges::none_of(report.blocks, is_live)) {
    for (Live& live : lives_of(runs)) report.live(std::move(live));
  }
  report.models = models_of(runs, results);
  report.tests = tests_of(results);
  return report;
}

}  // namespace attend::lab
