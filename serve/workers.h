// Who computes: a few threads of their own, so that memory and cores are bounded however many clients there are. A job that
// computes for long pauses where it asks whether to go on, on its thread and with its state, and others have their turn.
//
// A model may be used by several threads at once: answering only reads it (`answer` and `explain` are const, caches of a
// search belong to that search, observation and tapes belong to their thread), and the kernels' pool serves one loop at a
// time: who finds it taken works alone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/turns.h"

namespace attend::serve {

class Workers {
 public:
  /// Who has nothing to do for `rest` gives memory that is in reserve back to the system. `now`: the clock by which turns end.
  explicit Workers(const TurnOptions& options, std::chrono::milliseconds rest = std::chrono::seconds(10),
                   Now now = Clock::now);
  /// Finishes what was submitted.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// False where too many wait already.
  bool submit(const std::shared_ptr<Job>& job);
  /// For a job that is being computed, on its thread, as often as it can: where its turn is over, waits for the next one.
  void pause(const std::shared_ptr<Job>& job);
  /// Cancels all that runs and waits, and takes nothing more.
  void cancel();
  bool cancelled() const;
  // Crowds are none of these:
  size_t running() const;
  size_t waiting() const;

 private:
  void work();
  void share_out();

  const std::chrono::milliseconds rest_;
  const Now now_;
  mutable std::mutex mutex_;
  std::condition_variable came_, resumed_;
  Turns turns_;
  std::deque<std::shared_ptr<Job>> beginning_;  // whose turn it is, and that have no thread yet
  bool stopping_ = false, cancelled_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace attend::serve
