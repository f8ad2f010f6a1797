// Who computes: a few threads of their own, so that memory and cores are bounded however many clients there are.
//
// A model may be used by several threads at once: answering only reads it (`answer` and `explain` are const, caches of a
// search belong to that search, observation and tapes belong to their thread), and the kernels' pool serves one loop at a
// time: who finds it taken works alone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

namespace attend::serve {

/// Something to compute. Whoever no longer wants it cancels it: it then ends where it next asks, first of all when it begins.
struct Job {
  std::function<void()> run;  ///< must not throw
  std::atomic<bool> cancelled{false};
  std::atomic<bool> stopping{false};  ///< cancelled as the server stops
};

class Workers {
 public:
  /// `waiting`: most jobs that wait. Who has nothing to do for `rest` gives memory that is in reserve back to the system.
  Workers(size_t count, size_t waiting, std::chrono::milliseconds rest = std::chrono::seconds(10));
  /// Finishes what was submitted.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// False where too many wait already.
  bool submit(std::shared_ptr<Job> job);
  /// Cancels all that runs and waits, and takes nothing more.
  void cancel();
  bool cancelled() const;
  size_t running() const;
  size_t waiting() const;
  size_t count() const { return threads_.size(); }

 private:
  void work();

  const size_t most_;
  const std::chrono::milliseconds rest_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::unordered_set<std::shared_ptr<Job>> running_;
  bool stopping_ = false, cancelled_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace attend::serve
