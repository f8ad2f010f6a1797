#include "serve/workers.h"

#include <algorithm>
#include <utility>

#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"

namespace attend::serve {

Workers::Workers(const TurnOptions& options, std::chrono::milliseconds rest, Now now)
    : rest_(rest), now_(std::move(now)), turns_(options) {
  // One for each job that can have begun: short ones do not pause, and crowds leave between two turns.
  for (size_t i = 0; i < options.workers + options.most_long + 1; ++i) threads_.emplace_back([this] { work(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  came_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

/// Begins and resumes all whose turn it is.
void Workers::share_out() {
  while (const std::shared_ptr<Job> job = turns_.next()) {
    job->since = now_();
    if (std::exchange(job->begun, true)) {
      resumed_.notify_all();
    } else {
      beginning_.push_back(job);
      came_.notify_one();
    }
  }
}

bool Workers::submit(const std::shared_ptr<Job>& job) {
  std::shared_ptr<Job> displaced;
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_ || !turns_.enter(job, displaced)) return false;
    share_out();
  }
  if (displaced) {
    displaced->displaced = displaced->cancelled = true;
    displaced->run();  // which ends where it begins, and tells its client
  }
  return true;
}

void Workers::pause(const std::shared_ptr<Job>& job) {
  std::unique_lock lock(mutex_);
  const bool over = turns_.over(job, now_() - job->since);
  share_out();
  if (over) resumed_.wait(lock, [&] { return turns_.computes(*job); });
}

void Workers::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  const auto end = [](const std::shared_ptr<Job>& job) { job->stopping = job->cancelled = true; };
  std::ranges::for_each(turns_.waiting(), end);
  std::ranges::for_each(turns_.computing(), end);
}

bool Workers::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

size_t Workers::running() const {
  const std::lock_guard lock(mutex_);
  return turns_.requests_of(turns_.computing());
}

size_t Workers::waiting() const {
  const std::lock_guard lock(mutex_);
  return turns_.requests_of(turns_.waiting());
}

void Workers::work() {
  // OpenMP, which oneDNN uses, keeps its number of threads per thread.
  kernels::set_threads(kernels::threads());
  const auto ended = [&] { return stopping_ && turns_.waiting().empty() && turns_.computing().empty(); };
  const auto wanted = [&] { return !beginning_.empty() || ended(); };
  bool worked = false;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (std::exchange(worked, false) && !came_.wait_for(lock, rest_, wanted)) {
      lock.unlock();
      memory::trim();
      lock.lock();
    }
    came_.wait(lock, wanted);
    if (beginning_.empty()) return;
    const std::shared_ptr<Job> job = std::move(beginning_.front());
    beginning_.pop_front();
    lock.unlock();
    job->run();
    lock.lock();
    turns_.leave(job);
    share_out();
    if (ended()) came_.notify_all();
    worked = true;
  }
}

}  // namespace attend::serve
