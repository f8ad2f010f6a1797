#include "serve/workers.h"

#include <algorithm>
#include <utility>

#include "attend/kernels/parallel.h"

namespace attend::serve {

Workers::Workers(size_t count, size_t waiting) : most_(waiting) {
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
  std::unique_lock lock(mutex_);
  for (;;) {
    came_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const std::shared_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    running_.insert(job);
    lock.unlock();
    job->run();
    lock.lock();
    running_.erase(job);
  }
}

}  // namespace attend::serve
