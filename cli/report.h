// The report of a comparison: one page, a Markdown table, figures, every number as JSON, and a table for the terminal.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attend/explain/plot.h"
#include "attend/tasks/comparison.h"

namespace attend::cli {

/// One model of a comparison, as far as it has come.
struct Compared {
  std::string name, folder;
  std::string options;            ///< what sets it apart: "attention.score=dot"
  std::string state = "waiting";  ///< or finished, interrupted, failed
  std::string error;              ///< why it failed
  std::optional<int64_t> steps, tokens;
  std::optional<double> seconds;  ///< of training, without validations
  std::optional<tasks::Measured> measured;
  tasks::TestSet test;
  std::vector<train::LengthGroup> groups;  ///< by the length of the source, with their counts in this test
  std::vector<double> by_length;           ///< the main score of each
  tasks::Curve curve;
  nlohmann::ordered_json scores;  ///< as `attend eval` prints them
};

struct Comparison {
  std::string subject;         ///< the recipes, tasks and folders
  std::string unit = "words";  ///< of a source's length; of a sound's, what is said in it
  std::string measured_side() const { return row && row->input().reads == models::Reads::sound ? "right answer" : "source"; }
  bool same_test = true;       ///< all models had the same sentences
  std::vector<Compared> models;
  const tasks::TaskRow* row = &tasks::tasks()[0];  ///< of all models
  const train::ScoreRow* score = nullptr;          ///< the task's main one; null: it has none
};

explain::Plot length_plot(const Comparison& comparison);
std::vector<explain::Plot> learning_plots(const Comparison& comparison);

std::string html_report(const Comparison& comparison);
std::string markdown_report(const Comparison& comparison);
nlohmann::ordered_json json_report(const Comparison& comparison);
/// For a terminal.
std::string text_table(const Comparison& comparison);

/// report.html, report.md, report.json, score-by-length.svg and learning-curves.svg.
void write_report(const Comparison& comparison, const std::filesystem::path& folder);

}  // namespace attend::cli
