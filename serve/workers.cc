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
    // Those that nobody waits for any more make room first.
    std::erase_if(jobs_, [](const auto& one) { return one->cancelled.load(); });
    const size_t idle = threads_.size() - std::min(threads_.size(), running_.load());
    if (jobs_.size() >= most_ + idle) return false;
    jobs_.push_back(std::move(job));
  }
  came_.notify_one();
  return true;
}

size_t Workers::waiting() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

void Workers::work() {
  // OpenMP, which oneDNN uses, keeps its number of threads per thread.
  kernels::set_threads(kernels::threads());
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      came_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      ++running_;
    }
    if (!job->cancelled) job->run();
    --running_;
  }
}

}  // namespace attend::serve
