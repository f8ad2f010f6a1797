// The log of a run, in its folder: log.jsonl, and curves for TensorBoard in tensorboard/.
#pragma once

#include <filesystem>
#include <optional>

#include "attend/train/events.h"
#include "attend/train/trainer.h"

namespace attend::train {

class Log : public Watcher {
 public:
  /// `resumed_at`: the run resumes at this step, and later entries are dropped; without it, all entries are.
  explicit Log(const std::filesystem::path& folder, std::optional<int64_t> resumed_at = std::nullopt);

  void stepped(const StepReport& report) override;
  void validated(const StepReport& report, const Validation& validation, bool best) override;

 private:
  JsonLog lines_;
  EventFile curves_;
};

}  // namespace attend::train
