// A report as steps to be led through, for the page of `attend serve --lab`: the claim, what was measured, each figure and table
// with its text, and where the models can be tried.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "lab/report.h"
#include "lab/results.h"

namespace attend::lab {

struct Run;

/// The models of an experiment as a page finds them, and what is told of each.
std::vector<Model> models_of(const std::vector<Run>& runs, const Results& results);
/// Texts that the models were tested with, a few of every length, once for all runs that share them; none of images and sounds.
std::vector<Tested> tests_of(const Results& results);
/// Where a report has no place at which its models can be tried: one for the runs of each task.
std::vector<Live> lives_of(const std::vector<Run>& runs);

/// [{"title", "blocks": [{"kind": "text" | "checks" | "table" | "figure" | "live" | "command", …}]}]
nlohmann::ordered_json story_of(const Report& report);

}  // namespace attend::lab
