// What experiments measure of a trained model beside its scores: what an answer costs, and how right it is on texts of one's own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/tasks/model.h"
#include "lab/results.h"

namespace attend::lab {

/// A text of so many tokens (words, or letters where the model reads these), out of those that it was tested with.
std::string text_of_length(const tasks::TestSet& test, bool letters, int64_t length);

/// Milliseconds to say a token of an answer as long as its text, one text at a time: the best of a few tries.
double milliseconds_per_token(const tasks::TaskModel& model, const std::string& text, int64_t length);

/// That by length of the text, with a line for each run; adds it to `numbers`.
explain::Plot cost_plot(const Results& results, std::span<const std::string> runs, std::span<const int64_t> lengths,
                        nlohmann::ordered_json& numbers);

/// The image of an example as its model reads it, [1,C,H,W].
Tensor image_of(const tasks::TaskModel& model, const tasks::Example& example);

/// A text and its right answer.
struct Asked {
  std::string text, right;
};
/// In percent, answered greedily and in one piece however long a text is, with answers as long as the right ones at most.
double exact_on(const tasks::TaskModel& model, std::span<const Asked> asked);

}  // namespace attend::lab
