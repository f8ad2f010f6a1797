// `attend compare`: one model per choice, and one report of all of them.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/spool.h"
#include "attend/tasks/comparison.h"
#include "attend/tasks/data_files.h"
#include "attend/tasks/layers.h"
#include "attend/tasks/model_folder.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/flags.h"
#include "cli/model_argument.h"
#include "cli/planned.h"
#include "cli/progress.h"
#include "cli/quiet.h"
#include "cli/recipes.h"
#include "cli/report.h"
#include "cli/training.h"
#include "cli/variants.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSummary = "trains one model per choice and writes one report of all of them";

struct CompareOptions {
  std::vector<std::string> vary, variant;
  TestFlags test;
  std::string out;
  bool force = false;
  ThreadOption threads;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("vary", vary, "KEY=A,B: a model for each value; of several, for each combination");
    visit("variant", variant, "\"NAME: KEY=VALUE KEY=VALUE\": a model with these options over the recipe's");
    test.fields(visit);
    visit("out", out, "folder of the report, and of the models");
    visit("force", force, "train afresh those models in that folder whose options have changed", bounds::destructive());
    threads.fields(visit);
  }
};

bool is_model(const std::string& subject) {
  return !is_task(subject) && fs::is_directory(subject) && fs::exists(fs::path(subject) / tasks::kConfig);
}

/// A folder's or a recipe's own name.
std::string stem(const std::string& subject) {
  fs::path path = fs::path(subject).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return is_model(subject) ? path.filename().string() : path.stem().string();
}

std::string words_of(const SettingList& settings) {
  return joined(settings, " ", [](const Setting& s) { return s.name + "=" + s.value; });
}

/// The words before the first flag: which flags there are depends on them.
std::vector<std::string> subjects_in(int argc, char** argv) {
  std::vector<std::string> subjects;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) subjects.emplace_back(argv[i]);
  return subjects;
}

/// The task of a recipe, a task's name or a model's folder.
const tasks::TaskRow& row_of(const std::string& subject) {
  return is_model(subject) ? tasks::read_config(subject).row() : tasks::task_of(settings_of_subject(subject));
}

/// A recipe or task that is to be trained: what it sets, and with what options.
struct Recipe {
  std::string subject;
  SettingList settings;
};

std::vector<Recipe> recipes_of(const std::vector<std::string>& subjects, int argc, char** argv) {
  std::vector<Recipe> recipes;
  for (const std::string& subject : subjects) {
    if (is_model(subject)) continue;
    require_usage(!fs::is_directory(subject) || is_task(subject) || recipe_named(subject), subject,
                  ": not a model folder, as it has no ", tasks::kConfig);
    Recipe recipe{subject, settings_of_subject(subject)};
    if (const auto model = peek_flag(argc, argv, "model.name")) {
      recipe.settings = tasks::laid_over(recipe.settings, {{"model.name", *model, "--model.name"}}).settings;
    }
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

/// What `attend train` would take for any of these; but names of files are here what to score with.
std::vector<OptionInfo> training_options(const std::vector<Recipe>& recipes, TestFlags test) {
  std::vector<OptionInfo> all;
  const std::vector<OptionInfo> tested = describe_options(test);
  const auto has = [](const std::vector<OptionInfo>& options, const OptionInfo& option) {
    return std::ranges::find(options, option.name, &OptionInfo::name) != options.end();
  };
  const auto add = [&](const tasks::TaskConfig& config) {
    for (const OptionInfo& option : config.all()) {
      if (!has(all, option) && !has(tested, option)) all.push_back(option);
    }
  };
  for (const Recipe& recipe : recipes) add(tasks::TaskConfig(recipe.settings));
  if (recipes.empty()) add(tasks::TaskConfig({}));
  return all;
}

/// A recipe with the flags that apply to it: options of a network only where it has them.
SettingList with_flags(const Recipe& recipe, const SettingList& flags) {
  const std::vector<OptionInfo> known = tasks::TaskConfig(recipe.settings).all();
  SettingList of_it;
  for (const Setting& flag : flags) {
    const bool has = std::ranges::find(known, flag.name, &OptionInfo::name) != known.end();
    if (has || !flag.name.starts_with("model.")) of_it.push_back(flag);
  }
  return tasks::laid_over(recipe.settings, of_it).settings;
}

/// The models that a recipe and its variants ask for; each of them can be made.
void add_variants(const Recipe& recipe, const SettingList& flags, const CompareOptions& options, bool several,
                  std::vector<PlannedRun>& all) {
  const SettingList settings = with_flags(recipe, flags);
  for (const Variant& variant : make_variants(options.vary, options.variant)) {
    std::string name = variant.name.empty() ? stem(recipe.subject) : variant.name;
    if (several && !variant.name.empty()) name = stem(recipe.subject) + ": " + name;
    SettingList with_variant = settings_over(settings, variant);
    settle_length(with_variant);
    PlannedRun wanted{name, words_of(variant.settings), "", std::move(with_variant)};
    try {
      wanted.config.check();
    } catch (const UsageError& error) {
      const std::string what = error.what();
      fail_usage(what.starts_with("--variant") ? "" : "variant " + attend::quoted(name) + ": ", what);
    }
    all.push_back(std::move(wanted));
  }
}

std::string pipe_objection(const std::string& name) {
  return "expected files, which every model reads, got a pipe (" + data::shown_name(name) + "); write it to a file first";
}

std::vector<PlannedRun> plan(const std::vector<std::string>& subjects, const std::vector<Recipe>& recipes,
                         const SettingList& flags, const CompareOptions& options) {
  std::vector<PlannedRun> all;
  for (const std::string& subject : subjects) {
    const auto recipe = std::ranges::find(recipes, subject, &Recipe::subject);
    if (recipe != recipes.end()) {
      add_variants(*recipe, flags, options, recipes.size() > 1, all);
    } else {
      all.push_back({.name = stem(subject),
                     .options = subject,
                     .folder = subject,
                     .settings = tasks::read_config(subject).given,
                     .trained = true});
    }
  }
  for (const PlannedRun& wanted : all) {
    if (wanted.trained) continue;
    wanted.config.check_files();
    if (const auto pipes = tasks::pipes(wanted.config); !pipes.empty()) fail_usage(pipe_objection(pipes[0]));
  }
  place(all, options.out, options.force);
  return all;
}

void read_result(const std::string& folder, Compared& model) {
  const fs::path path = file_within(folder, kResult);
  if (!fs::exists(path)) return;
  const nlohmann::json result = nlohmann::json::parse(read_file(path, size_t{1} << 20), nullptr, false);
  if (!result.is_object()) return;
  model.steps = result.value("steps", int64_t{0}), model.tokens = result.value("tokens", int64_t{0});
  model.seconds = result.value("seconds", 0.0);
}

nlohmann::ordered_json scores_of(const tasks::Measured& measured, const tasks::TaskRow& row) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  if (!measured.judged.outputs.empty()) all = train::report_of(row.scores, measured.judged, {});
  all["lines"] = measured.judged.outputs.size();
  if (const auto& a = measured.alignment) {
    all["alignment"] = {{"aer", a->error_rate},
                        {"precision", a->precision},
                        {"recall", a->recall},
                        {"lines", measured.judged.outputs.size()}};
  }
  return all;
}

/// The groups of the first model's test, with the counts in this one.
std::vector<train::LengthGroup> groups_for(const Comparison& comparison, std::span<const int64_t> lengths) {
  for (const Compared& model : comparison.models) {
    if (model.groups.empty()) continue;
    std::vector<train::LengthGroup> groups = model.groups;
    for (train::LengthGroup& group : groups) {
      group.count = std::ranges::count_if(lengths, [&](int64_t n) { return group.has(n); });
    }
    return groups;
  }
  const int64_t least = std::max<int64_t>(10, static_cast<int64_t>(lengths.size()) / 50);
  return train::length_groups(lengths, least);
}

void measure_model(Comparison& comparison, Compared& model, Progress& progress, long done) {
  const std::vector<size_t> shown = tasks::examples_to_show(model.test.examples);
  const std::string of = " of " + std::to_string(model.test.examples.count);
  tasks::Measured measured = tasks::measure(model.folder, model.test, shown, [&](int64_t answered) {
    progress.show(done, "answering " + std::to_string(answered) + of);
  });
  const std::vector<int64_t> lengths = tasks::source_lengths(model.test.examples, comparison.unit == "letters");
  if (!lengths.empty() && !measured.judged.outputs.empty() && comparison.score) {
    model.groups = groups_for(comparison, lengths);
    model.by_length = train::score_by_length(*comparison.score, measured.judged, lengths, model.groups);
  }
  model.scores = scores_of(measured, *comparison.row);
  model.measured = std::move(measured);
  model.state = "finished";
}

Comparison begin(const std::vector<PlannedRun>& all, const std::vector<std::string>& subjects, const tasks::TestFiles& files) {
  Comparison comparison;
  comparison.subject = joined(subjects);
  const auto letters = [](const PlannedRun& wanted) {
    return wanted.config.reads_characters() && wanted.config.row().input().streamed;
  };
  if (std::ranges::all_of(all, letters)) comparison.unit = "letters";
  comparison.row = &all.front().config.row();
  for (const PlannedRun& wanted : all) {
    require_usage(&wanted.config.row() == comparison.row, "expected models of one task, got ", comparison.row->name,
                  " and ", wanted.config.row().name);
    Compared model;
    model.name = wanted.name, model.options = wanted.options, model.folder = wanted.folder;
    model.test = tasks::test_set(wanted.config, files);
    comparison.models.push_back(std::move(model));
    const auto& models = comparison.models;
    comparison.same_test = comparison.same_test && models.back().test.fingerprint == models.front().test.fingerprint;
  }
  if (!comparison.row->scores.empty()) comparison.score = &train::score_named(comparison.row->scores[0]);
  return comparison;
}

/// Trains and measures one after the other; the report is written anew after each. The exit code.
int run_all(const std::vector<PlannedRun>& all, Comparison& comparison, const std::string& out) {
  const size_t count = all.size();
  Progress progress("", kShare * static_cast<long>(count));
  int code = 0;
  for (size_t i = 0; i < count && code < 128; ++i) {
    Compared& model = comparison.models[i];
    const std::string label = std::to_string(i + 1) + "/" + std::to_string(count) + " " + model.name;
    progress.relabel(label);
    progress.say(label + (model.options.empty() ? "" : "  " + model.options));
    try {
      const int ended = train_planned(all[i], progress, i);
      if (comparison.score) model.curve = tasks::read_curve(model.folder, *comparison.score);
      if (ended == 0) {
        read_result(model.folder, model);
        measure_model(comparison, model, progress, kShare * static_cast<long>(i + 1));
      } else {
        model.state = "interrupted", code = ended;
      }
    } catch (const std::exception& error) {
      model.state = "failed", model.error = message_of(error), code = exit_code(error);
      progress.say("failed: " + model.name + ": " + model.error);
    }
    write_report(comparison, out);
  }
  if (code < 128) progress.finish(kShare * static_cast<long>(count), "");
  return code;
}

/// What is wrong with these flags together; "" if nothing is.
std::string objection(const std::vector<std::string>& named, const std::vector<std::string>& subjects, bool recipes,
                      const SettingList& settings, const CompareOptions& o) {
  if (named.empty()) return "name a recipe, a task or models' folders, such as translate";
  if (named != subjects)
    return "recipes, tasks and folders come before the flags: attend compare " + named.back();
  if (o.out.empty()) return "--out is needed: the folder of the report";
  if (const std::string wrong = o.test.objection(); !wrong.empty()) return wrong;
  for (const std::string& file : o.test.files.text.all()) {
    if (data::is_pipe(file)) return pipe_objection(file);
  }
  if (!recipes && !(o.vary.empty() && o.variant.empty())) {
    return "--vary and --variant need a recipe or a task to train: a trained model is taken as it is";
  }
  if (!recipes && !settings.empty()) return settings[0].where + " needs a recipe or a task to train";
  return "";
}

}  // namespace

int compare(int argc, char** argv) {
  CompareOptions options;
  const std::vector<std::string> subjects = subjects_in(argc, argv);
  try {
    if (!subjects.empty()) options.test.row = &row_of(subjects[0]);
  } catch (const Error&) {  // told below, with the others
  }
  Flags flags("compare", kSummary);
  std::vector<std::string> named;
  flags
      .arguments("RECIPE|TASK|DIR", named,
                 "recipes (files or names), tasks (" + task_names() + ") or folders of trained models")
      .options("comparison", options);
  const std::vector<Recipe> recipes = recipes_of(subjects, argc, argv);
  add_groups(flags, training_options(recipes, options.test));
  if (const auto code = flags.parse(argc, argv)) return *code;
  const std::string wrong = objection(named, subjects, !recipes.empty(), flags.settings(), options);
  if (!wrong.empty()) return flags.refuse(wrong);
  flags.check_files();
  const std::vector<PlannedRun> all = plan(subjects, recipes, flags.settings(), options);
  options.threads.apply();
  Comparison comparison = begin(all, subjects, options.test.files);
  for (const Recipe& recipe : recipes) {
    for (const std::string& dropped : tasks::laid_over(recipe.settings, flags.settings()).notes) {
      note("note: " + recipe.subject + ": " + dropped);
    }
  }
  require_writable(options.out);
  const int code = run_all(all, comparison, options.out);
  std::cout << text_table(comparison) << std::flush;
  note("report: " + (fs::path(options.out) / "report.html").string());
  if (code >= 128) note("interrupted; the same command resumes");
  return code;
}

}  // namespace attend::cli
