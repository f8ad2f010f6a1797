#include "serve/workers.h"

#include <algorithm>
#include <utility>

#include "attend/base/memory.h"
#include "attend/kernels/parallel.h"

namespace attend::serve {

Workers::Workers(size_t count, size_t waiting, std::chrono::milliseconds rest) : most_(waiting), rest_(rest) {
  for (size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  came_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Workers::submit(std::shared_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return false;
    // Those that nobody waits for any more make room first.
    std::erase_if(jobs_, [](const auto& one) { return one->cancelled.load(); });
    const size_t idle = threads_.size() - std::min(threads_.size(), running_.size());
    if (jobs_.size() >= most_ + idle) return false;
    jobs_.push_back(std::move(job));
  }
  came_.notify_one();
  return true;
}

void Workers::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  const auto end = [](const std::shared_ptr<Job>& job) { job->stopping = job->cancelled = true; };
  std::ranges::for_each(jobs_, end);
  std::ranges::for_each(running_, end);
}

bool Workers::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

size_t Workers::running() const {
  const std::lock_guard lock(mutex_);
  return running_.size();
}

size_t Workers::waiting() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

void Workers::work() {
  // OpenMP, which oneDNN uses, keeps its number of threads per thread.
  kernels::set_threads(kernels::threads());
  const auto wanted = [&] { return stopping_ || !jobs_.empty(); };
  bool worked = false;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (std::exchange(worked, false) && !came_.wait_for(lock, rest_, wanted)) {
      lock.unlock();
      memory::trim();
      lock.lock();
    }
    came_.wait(lock, wanted);
    if (jobs_.empty()) return;
    const std::shared_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    running_.insert(job);
    lock.unlock();
    job->run();
    lock.lock();
    running_.erase(job);
    worked = true;
  }
}

}  // namespace attend::serve
