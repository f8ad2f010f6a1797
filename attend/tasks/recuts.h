// Texts to learn from in other subwords each time (batch.subwords).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/data/subword_cuts.h"
#include "attend/tasks/model.h"

namespace attend::tasks {

class Recuts {
 public:
  /// Of the sides that the options of the run name.
  explicit Recuts(const TaskModel& model);

  /// Whether anything is cut anew.
  bool any() const { return options_.any(); }
  /// Tokens in place of `ids`, which are part k of the sources of a row, or its target after the last part: a function of
  /// batch.seed, epoch, row and part. They stay as they are where there would be more of them than a text may have.
  std::vector<int32_t> operator()(int64_t epoch, uint32_t row, size_t part, std::span<const int32_t> ids) const;

 private:
  SubwordOptions options_;
  uint64_t seed_;
  int64_t longest_;                                             // 0: any number
  std::vector<std::unique_ptr<const data::SubwordCuts>> cuts_;  // of each part and of the target; null: as they are
};

}  // namespace attend::tasks
