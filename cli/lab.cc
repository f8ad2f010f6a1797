// `attend lab`: claims about attention, each shown by models that are trained here, on data that the program makes.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "attend/base/error.h"
#include "attend/base/replacement.h"
#include "attend/explain/plot.h"
#include "attend/explain/report_page.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/list.h"
#include "cli/planned.h"
#include "cli/progress.h"
#include "cli/quiet.h"
#include "cli/training.h"
#include "lab/experiment.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;
using lab::Experiment;

constexpr const char* kSummary = "claims about attention, each shown by models that are trained here";
constexpr std::string_view kAll = "all";

struct LabOptions {
  std::string out;
  bool quick = false, force = false;
  int64_t seeds = 0;
  ThreadOption threads;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("out", out, "folder of the report, and of the models; of all, with a folder for each experiment");
    visit("quick", quick, "smaller models, trained for a moment: the direction of the claim, not its figures");
    visit("seeds", seeds,
          "how often each model is trained; 0: as often as the experiment says, and once if it is quick",
          bounds::within(0, 100));
    visit("force", force, "train afresh those models in that folder whose options have changed", bounds::destructive());
    threads.fields(visit);
  }
  lab::Scale scale() const { return quick ? lab::Scale::quick : lab::Scale::full; }
};

/// An experiment with its models, in its folder.
struct PlannedExperiment {
  const Experiment* experiment;
  fs::path out;
  std::vector<PlannedRun> runs;
  std::vector<lab::Trained> trained;  ///< what the runs are to the experiment
};

int print_experiments() {
  print_list("experiments");
  std::cout << "\n`attend lab all --out DIR` runs every one in turn; --quick shows the direction of each claim in a "
               "minute or two.\n";
  return 0;
}

PlannedExperiment plan_experiment(const Experiment& experiment, const fs::path& out, const LabOptions& options) {
  PlannedExperiment planned{&experiment, out, {}, {}};
  const int64_t seeds = options.seeds > 0 ? options.seeds : options.quick ? 1 : experiment.seeds;
  for (const lab::Run& run : experiment.runs(options.scale())) {
    for (int64_t seed = 1; seed <= seeds; ++seed) {
      SettingList settings = run.list();
      settings.push_back({"train.seed", std::to_string(seed), "--seeds"});
      PlannedRun one{.name = run.name + (seed == 1 ? "" : ", seed " + std::to_string(seed)),
                     .options = run.settings,
                     .folder = {},
                     .settings = settings};
      one.config.check();
      planned.runs.push_back(std::move(one));
      planned.trained.push_back({run.name, seed, {}});
    }
  }
  place(planned.runs, out.string(), options.force);
  for (size_t i = 0; i < planned.runs.size(); ++i) planned.trained[i].folder = planned.runs[i].folder;
  return planned;
}

std::vector<PlannedExperiment> plan_lab(const std::string& name, const LabOptions& options) {
  std::vector<PlannedExperiment> all;
  if (name != kAll) {
    all.push_back(plan_experiment(lab::experiment_named(name), options.out, options));
    return all;
  }
  for (const Experiment& experiment : lab::experiments()) {
    all.push_back(plan_experiment(experiment, fs::path(options.out) / experiment.name, options));
  }
  return all;
}

/// Trains what is not yet trained; the exit code.
int train_models(const PlannedExperiment& planned, Progress& progress) {
  const size_t count = planned.runs.size();
  for (size_t i = 0; i < count; ++i) {
    const PlannedRun& run = planned.runs[i];
    const std::string label = std::to_string(i + 1) + "/" + std::to_string(count) + " " + run.name;
    progress.relabel(label);
    if (const int code = train_planned(run, progress, i); code != 0) return code;
  }
  return 0;
}

void print_verdict(const lab::Report& report) {
  std::cout << report.name << ": " << report.verdict() << '\n';
  for (const lab::Check& check : report.checks) {
    std::cout << (check.held ? "  + " : "  - ") << check.expected << ": " << (check.held ? "" : "no, ")
              << check.measured << '\n';
  }
  std::cout << std::flush;
}

/// Trains, measures and reports one experiment; the exit code.
int run_experiment(const PlannedExperiment& planned, lab::Scale scale, std::vector<lab::Report>& reports) {
  const auto total = kShare * static_cast<long>(planned.runs.size());
  note("lab " + std::string(planned.experiment->name) + ": " + std::string(planned.experiment->claim));
  Progress progress("", total);
  if (const int code = train_models(planned, progress); code != 0) return code;
  progress.relabel("measuring");
  const lab::Results results(scale, planned.trained, [&](const std::string& what) { progress.show(total, what); });
  reports.push_back(lab::report_of(*planned.experiment, results));
  progress.finish(total, "");
  write_report(reports.back(), planned.out);
  print_verdict(reports.back());
  note("report: " + (planned.out / "report.html").string());
  return 0;
}

/// A page that leads to all reports.
std::string index_page(const std::vector<lab::Report>& reports) {
  using explain::escaped_markup;
  std::string body =
      "<h1>The lab</h1>\n<p class=\"about\">Claims about attention, and what came of each here.</p>\n"
      "<div class=\"wide\"><table><thead><tr><th scope=\"col\">Experiment</th><th scope=\"col\">Verdict</th>"
      "<th scope=\"col\">Checks held</th></tr></thead>\n<tbody>\n";
  for (const lab::Report& report : reports) {
    const auto held = std::ranges::count(report.checks, true, &lab::Check::held);
    body += "<tr><th scope=\"row\"><a href=\"" + report.name + "/report.html\">" + escaped_markup(report.title) +
            "</a><small>" + escaped_markup(report.claim) + "</small></th><td>" + report.verdict() + "</td><td>" +
            std::to_string(held) + " of " + std::to_string(report.checks.size()) + "</td></tr>\n";
  }
  return explain::report_page("The lab", body + "</tbody></table></div>\n");
}

}  // namespace

int lab(int argc, char** argv) {
  LabOptions options;
  std::string name;
  Flags flags("lab", kSummary);
  flags.argument("EXPERIMENT", name, "one of those that `attend lab` lists, or all", false).options("lab", options);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (name.empty()) return print_experiments();
  if (name != kAll) lab::experiment_named(name);
  if (options.out.empty()) return flags.refuse("--out is needed: the folder of the report");
  const std::vector<PlannedExperiment> all = plan_lab(name, options);
  options.threads.apply();
  require_writable(options.out);
  std::vector<lab::Report> reports;
  for (const PlannedExperiment& planned : all) {
    if (const int code = run_experiment(planned, options.scale(), reports); code != 0) {
      if (code >= 128) note("interrupted; the same command resumes");
      return code;
    }
    if (name == kAll) write_file(fs::path(options.out) / "index.html", index_page(reports));
  }
  return 0;
}

}  // namespace attend::cli
