#include "cli/on_error.h"

#include "attend/base/error.h"
#include "cli/quiet.h"

namespace attend::cli {

std::string OnError::counted(int64_t count) const {
  return std::to_string(count) + " " + unit_ + (count == 1 ? "" : "s");
}

void OnError::meet(const std::string& what) {
  if (how_ == "stop") {
    const char* const were = answered_ == 1 ? " before it was" : " before it were";
    fail(what, "; ", counted(answered_), were, " answered (--on-error skip leaves such ", unit_,
         "s out, --on-error replace answers them with empty ones)");
  }
  ++faults_;
  note("attend run: " + what + (replaces() ? "; its answer is left empty" : "; left out"));
}

void OnError::summary() const {
  if (faults_ == 0) return;
  note("attend run: " + std::to_string(faults_) + " of " + counted(faults_ + answered_) + " could not be answered and " +
       (faults_ == 1 ? "was " : "were ") + (replaces() ? "given an empty answer" : "left out"));
}

}  // namespace attend::cli
