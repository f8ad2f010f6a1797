// Precision and recall: how much of the output is correct, and how much of what is correct was output.
#pragma once

#include <cstdint>

namespace attend::train {

/// Counts of one kind of thing (a label, a type of span, brackets). If there is nothing to divide by, a share is 0, as
/// in scikit-learn and seqeval.
struct Matches {
  int64_t right = 0, outputs = 0, references = 0;

  double precision() const { return share(right, outputs); }
  double recall() const { return share(right, references); }
  /// 2PR/(P + R) = 2·right/(outputs + references)
  double f1() const { return share(2 * right, outputs + references); }

  static double share(int64_t part, int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

}  // namespace attend::train
