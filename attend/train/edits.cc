#include "attend/train/edits.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "attend/train/line_pairs.h"

namespace attend::train {
namespace {

using Tokens = std::vector<std::string_view>;

struct Edits {
  int64_t substitutions = 0, insertions = 0, deletions = 0;
  int64_t total() const { return substitutions + insertions + deletions; }
};

/// A common prefix and a common suffix are correct.
void strip_common(std::span<const std::string_view>& reference, std::span<const std::string_view>& output) {
  const auto front = std::ranges::mismatch(reference, output).in1 - reference.begin();
  reference = reference.subspan(static_cast<size_t>(front));
  output = output.subspan(static_cast<size_t>(front));
  while (!reference.empty() && !output.empty() && reference.back() == output.back()) {
    reference = reference.first(reference.size() - 1);
    output = output.first(output.size() - 1);
  }
}

/// The path that is found by tracing back from the end, preferring a deletion, then an insertion, as RapidFuzz does.
/// The step that ends in (i, j) depends only on the distances around it, so that its counts can be carried forwards,
/// and two rows are enough.
Edits fewest_edits(std::span<const std::string_view> reference, std::span<const std::string_view> output) {
  strip_common(reference, output);
  std::vector<Edits> above, row(reference.size() + 1);  // row[i]: from the first i of the reference to the first j
  for (size_t i = 0; i < row.size(); ++i) row[i].deletions = static_cast<int64_t>(i);
  for (size_t j = 1; j <= output.size(); ++j) {
    std::swap(above, row);
    row.assign(above.size(), {});
    row[0].insertions = static_cast<int64_t>(j);
    for (size_t i = 1; i < row.size(); ++i) {
      const bool differs = reference[i - 1] != output[j - 1];
      const int64_t deleted = row[i - 1].total() + 1, inserted = above[i].total() + 1,
                    changed = above[i - 1].total() + differs;
      if (deleted <= std::min(inserted, changed)) {
        row[i] = row[i - 1];
        ++row[i].deletions;
      } else if (above[i].total() == above[i - 1].total() - 1) {
        row[i] = above[i];
        ++row[i].insertions;
      } else {
        row[i] = above[i - 1];
        row[i].substitutions += differs;
      }
    }
  }
  return row.back();
}

void add_edits(EditScores& scores, const Edits& edits, size_t tokens) {
  scores.substitutions += edits.substitutions;
  scores.insertions += edits.insertions;
  scores.deletions += edits.deletions;
  scores.tokens += static_cast<int64_t>(tokens);
  scores.lines += 1;
  scores.wrong += edits.total() > 0;
}

}  // namespace

EditScores edit_scores(std::span<const std::string> outputs, std::span<const std::string> references) {
  check_counts("edit_scores", outputs.size(), references.size());
  EditScores scores;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tokens reference = data::split_words(references[i]);
    add_edits(scores, fewest_edits(reference, data::split_words(outputs[i])), reference.size());
  }
  return scores;
}

EditScores edit_scores(std::span<const std::string> outputs, std::span<const std::vector<std::string>> references) {
  check_counts("edit_scores", outputs.size(), references.size());
  EditScores scores;
  for (size_t i = 0; i < outputs.size(); ++i) {
    require(!references[i].empty(), "edit_scores: expected at least one reference for output ", i + 1, ", got none");
    const Tokens output = data::split_words(outputs[i]);
    Edits nearest;
    size_t tokens = 0;
    for (size_t k = 0; k < references[i].size(); ++k) {
      const Tokens reference = data::split_words(references[i][k]);
      const Edits edits = fewest_edits(reference, output);
      if (k > 0 && edits.total() >= nearest.total()) continue;
      nearest = edits;
      tokens = reference.size();
    }
    add_edits(scores, nearest, tokens);
  }
  return scores;
}

}  // namespace attend::train
