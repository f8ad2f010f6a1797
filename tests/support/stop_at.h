// A training run that is stopped after so many steps.
#pragma once

#include "attend/tasks/training.h"

namespace attend::test {

struct StopAt : train::Watcher {
  explicit StopAt(int64_t step) : left(step) {}
  int64_t left;
  bool stop() override { return --left == 0; }
};

/// `stop_at` 0: to its end.
inline train::TrainResult run(tasks::TaskTraining& training, int64_t stop_at = 0) {
  StopAt stop(stop_at);
  train::Watcher* const watchers[] = {&stop};
  return training.trainer().run(watchers);
}

}  // namespace attend::test
