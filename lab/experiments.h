// The experiments: of each its models and its report, in the order of the table in experiment.cc.
#pragma once

#include <vector>

#include "lab/experiment.h"

namespace attend::lab {

std::vector<Run> told_runs(Scale scale);
void told_report(const Results& results, Report& report);

std::vector<Run> bottleneck_runs(Scale scale);
void bottleneck_report(const Results& results, Report& report);

std::vector<Run> scores_runs(Scale scale);
void scores_report(const Results& results, Report& report);

std::vector<Run> windows_runs(Scale scale);
void windows_report(const Results& results, Report& report);

std::vector<Run> hard_runs(Scale scale);
void hard_report(const Results& results, Report& report);

std::vector<Run> pick_runs(Scale scale);
void pick_report(const Results& results, Report& report);

std::vector<Run> positions_runs(Scale scale);
void positions_report(const Results& results, Report& report);

std::vector<Run> heads_runs(Scale scale);
void heads_report(const Results& results, Report& report);

std::vector<Run> depth_runs(Scale scale);
void depth_report(const Results& results, Report& report);

std::vector<Run> rivals_runs(Scale scale);
void rivals_report(const Results& results, Report& report);

std::vector<Run> coverage_runs(Scale scale);
void coverage_report(const Results& results, Report& report);

std::vector<Run> autoencode_runs(Scale scale);
void autoencode_report(const Results& results, Report& report);

std::vector<Run> oracle_runs(Scale scale);
void oracle_report(const Results& results, Report& report);

std::vector<Run> fast_weights_runs(Scale scale);
void fast_weights_report(const Results& results, Report& report);

std::vector<Run> recall_runs(Scale scale);
void recall_report(const Results& results, Report& report);

std::vector<Run> glimpse_cost_runs(Scale scale);
void glimpse_cost_report(const Results& results, Report& report);

std::vector<Run> tiles_runs(Scale scale);
void tiles_report(const Results& results, Report& report);

std::vector<Run> rewards_runs(Scale scale);
void rewards_report(const Results& results, Report& report);

std::vector<Run> saliency_runs(Scale scale);
void saliency_report(const Results& results, Report& report);

}  // namespace attend::lab
