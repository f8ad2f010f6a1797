// Models side by side: the same sentences for all of them, what each said and where it looked, its scores, the main one by
// length of the source, and how it learnt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/tasks/text.h"
#include "attend/train/agreement.h"

namespace attend::tasks {

/// What models are scored with, and where it comes from, in words.
struct TestSet {
  std::string name;
  std::vector<TextPair> pairs;
};
/// The pairs of two files; `gold`: a file of their word alignments, one sentence a line ("0-0 2-1"), or "".
TestSet test_files(const std::string& source, const std::string& target, const std::string& gold = "");
/// Those of the built-in corpus that no training sees, else the validation files; throws Error where there are neither.
TestSet test_of(const TextConfig& config);

/// A score of outputs against their references that models can be compared by, from 0 to 100; more is better.
struct ScoreRow {
  std::string_view name;   ///< as logs of training have it
  std::string_view title;  ///< "Exact match"
  std::string_view unit;   ///< what stands beside an axis: "exact match, %"
  double (*score)(std::span<const std::string> outputs, std::span<const std::string> references);
};
std::span<const ScoreRow> comparison_scores();
/// That of a task: BLEU, or exact match where an answer is one word, as BLEU, which counts four words in a row, is 0 there.
const ScoreRow& score_of_task(std::string_view task);

/// Told how many sentences are done.
using Told = std::function<void(size_t done)>;

/// What a model said to each source; links only where they were asked for.
struct Translations {
  std::vector<std::string> outputs;
  std::vector<data::Links> links;
};
Translations translate(const TextModel& model, std::span<const TextPair> pairs, const AnswerOptions& options,
                       const Told& told = {});

/// Sentences with a source of `first` to `last` words, or of `first` and more.
struct LengthGroup {
  int64_t first = 1;
  std::optional<int64_t> last;
  int64_t count = 0;

  bool has(int64_t length) const { return length >= first && (!last || length <= *last); }
  std::string text() const;  ///< "11–15", "21+"
};
/// Groups with round bounds, from the shortest to the longest: as few bounds as tell at least four groups apart, each with at
/// least `least` sentences.
std::vector<LengthGroup> length_groups(std::span<const int64_t> lengths, int64_t least);
/// The lengths of sources: words, or letters where models read letters.
std::vector<int64_t> source_lengths(std::span<const TextPair> pairs, bool letters);
/// The score of the sentences of each group; not a number where a group has none.
std::vector<double> score_by_length(const ScoreRow& score, std::span<const std::string> outputs,
                                    std::span<const TextPair> pairs, std::span<const int64_t> lengths,
                                    std::span<const LengthGroup> groups);

/// Up to `count` sentences to look at, of different lengths but none too long for a picture: their places.
std::vector<size_t> sentences_to_show(std::span<const TextPair> pairs, size_t count = 3);

/// One answer to look at; without weights where the model does not attend, between letters where it reads those.
struct ShownAnswer {
  size_t number = 0;  ///< of the sentence
  Answer answer;
};

/// What a model made of a test set.
struct Measured {
  std::vector<std::string> outputs;
  std::vector<data::Links> links;  ///< empty: no gold alignments, or the model does not attend
  std::vector<ShownAnswer> shown;
  int64_t parameters = 0;

  double bleu = 0, chrf = 0, exact = 0;
  std::optional<train::AlignmentScore> alignment;
};
/// Translates with the search that the model was trained with. What came out is kept in the folder (compare.json), and taken from
/// there as long as weights, options and sentences are the same.
Measured measure(const std::filesystem::path& folder, const TestSet& test, std::span<const size_t> shown,
                 const Told& told = {});

/// The validations of a run, as its log has them. Not a number where a validation has no score.
struct Curve {
  std::vector<double> steps, minutes, loss, score;
};
/// Empty where there is no log.
Curve read_curve(const std::filesystem::path& folder, const ScoreRow& score);

}  // namespace attend::tasks
