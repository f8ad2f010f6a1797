// The trained models of an experiment, and what is measured of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "attend/tasks/comparison.h"
#include "attend/train/by_length.h"
#include "lab/report.h"

namespace attend::lab {

/// How much an experiment does: `quick` shows the direction of the claim in a minute or two.
enum class Scale { quick, full };

/// A mean over seeds.
struct Estimate {
  double mean = 0;
  double error = 0;  ///< standard error of the mean; 0 of one seed
  int64_t count = 0;

  /// "12.3 ± 0.4", or "12.3" of one seed; "–" if there is none.
  std::string text(int digits = 1) const;
};
Estimate estimate_of(std::span<const double> values);

/// One trained model.
struct Trained {
  std::string run;
  int64_t seed = 1;
  std::filesystem::path folder;
};

class Results {
 public:
  using Say = std::function<void(const std::string& what)>;
  /// `say` is told what is being measured.
  Results(Scale scale, std::vector<Trained> trained, Say say);

  bool quick() const { return scale_ == Scale::quick; }
  std::vector<std::string> runs() const;
  std::vector<int64_t> seeds(const std::string& run) const;
  const std::filesystem::path& folder(const std::string& run, int64_t seed = 1) const {
    return trained(run, seed).folder;
  }
  tasks::TaskModel model(const std::string& run, int64_t seed = 1) const;
  /// On the task's test: its answers, scores and alignments. Kept in the model's folder.
  const tasks::Measured& measured(const std::string& run, int64_t seed = 1) const;
  const tasks::TestSet& test(const std::string& run, int64_t seed = 1) const;
  tasks::Curve curve(const std::string& run, std::string_view score, int64_t seed = 1) const;

  /// Over all seeds; names of scores are those of the task, and "aer".
  Estimate score(const std::string& run, const std::string& name) const;
  /// Of training alone.
  Estimate seconds(const std::string& run) const;
  int64_t parameters(const std::string& run) const;
  /// Any number of a model, over all seeds.
  Estimate over_seeds(const std::string& run, const std::function<double(int64_t seed)>& value) const;

  /// Groups of the test by length of the source, alike for all runs, each with at least a fiftieth of it.
  std::vector<train::LengthGroup> groups(bool letters) const;
  std::vector<Estimate> by_length(const std::string& run, const std::string& score,
                                  std::span<const train::LengthGroup> groups, bool letters) const;

  void say(const std::string& what) const { say_(what); }

 private:
  const Trained& trained(const std::string& run, int64_t seed) const;

  Scale scale_;
  std::vector<Trained> trained_;
  Say say_;
  mutable std::map<std::filesystem::path, tasks::TestSet> tests_;
  mutable std::map<std::filesystem::path, tasks::Measured> measured_;
};

/// A row for each run, a column for each score of these names, then parameters and time of training; adds them to `numbers`.
Table score_table(const Results& results, std::span<const std::string> runs, std::span<const std::string> scores,
                  nlohmann::ordered_json& numbers);
/// Score by length of the source, with a line for each run; adds it to `numbers`.
explain::Plot length_plot(const Results& results, std::span<const std::string> runs, const std::string& score,
                          bool letters, nlohmann::ordered_json& numbers);
/// Validation by step, with a line for each run.
explain::Plot curve_plot(const Results& results, std::span<const std::string> runs, const std::string& score);

}  // namespace attend::lab
