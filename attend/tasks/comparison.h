// Models side by side: the same examples for all of them, what each answered and where it looked, its scores, the main one by
// length of the source, and how it learned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/tasks/model.h"
#include "attend/train/agreement.h"
#include "attend/train/by_length.h"
#include "attend/train/scores.h"

namespace attend::tasks {

/// What models are scored with, and where it comes from, in words.
struct TestSet {
  std::string name;
  Examples examples;
  std::string fingerprint;  ///< changes with any of the examples
};
/// Of these files or, where none are named, those of the built-in corpus that no training sees, else the validation files.
/// Throws Error where there are none of these.
TestSet test_set(const TaskConfig& config, const TestFiles& files);

/// The lengths of sources: words, or letters where models read letters; of sounds, words of what is said. Empty where they are images.
std::vector<int64_t> source_lengths(const Examples& examples, bool letters);

/// Up to `count` examples to look at: texts of different lengths but none too long for a picture; images as they come.
std::vector<size_t> examples_to_show(const Examples& examples, size_t count = 3);

/// One answer to look at.
struct ShownAnswer {
  size_t number = 0;                  ///< of the example
  std::string title, reference, text;
  std::string picture;                ///< where the model looked, as SVG; "" where it does not attend
};

/// What a model made of a test set.
struct Measured {
  train::Judged judged;
  std::vector<data::Links> links;  ///< empty: no gold alignments, or the model does not attend
  std::vector<ShownAnswer> shown;
  int64_t parameters = 0;

  std::map<std::string, double> scores;  ///< of the task's rows
  std::optional<train::AlignmentScore> alignment;
};
/// Answers with the search that the model was trained with. What came out is kept in the folder (compare.json), and taken from
/// there as long as weights, options and examples are the same.
Measured measure(const std::filesystem::path& folder, const TestSet& test, std::span<const size_t> shown,
                 const Done& done = {});

/// The validations of a run, as its log has them. Not a number where a validation has no score.
struct Curve {
  std::vector<double> steps, minutes, loss, score;
};
/// Empty where there is no log.
Curve read_curve(const std::filesystem::path& folder, const train::ScoreRow& score);

}  // namespace attend::tasks
