// Prepares the next items on a separate thread while the current one is in use.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "attend/base/error.h"

namespace attend::data {

/// make(first), make(first + 1), … in this order, at most `depth` ahead. If make() throws, next() throws the same in
/// its place and from then on. The destructor waits for the item in progress and drops those that are ready.
template <class T>
class Prefetched {
 public:
  Prefetched(std::function<T(int64_t)> make, size_t depth, int64_t first = 0) : make_(std::move(make)), depth_(depth) {
    require(make_ != nullptr && depth > 0, "prefetch: expected a function and a depth of at least 1, got ",
            make_ != nullptr ? "a depth of 0" : "no function");
    thread_ = std::jthread([this, first](const std::stop_token& stop) { run(stop, first); });
  }
  Prefetched(const Prefetched&) = delete;
  Prefetched& operator=(const Prefetched&) = delete;

  T next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || failure_ != nullptr; });
    if (ready_.empty()) std::rethrow_exception(failure_);
    T front = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return front;
  }

 private:
  void run(const std::stop_token& stop, int64_t index) {
    for (; wait_for_room(stop); ++index) {
      std::optional<T> made;
      std::exception_ptr failure;
      try {
        made.emplace(make_(index));
      } catch (...) {
        failure = std::current_exception();
      }
      {
        const std::lock_guard lock(mutex_);
        if (made.has_value()) ready_.push_back(std::move(*made));
        failure_ = failure;
      }
      changed_.notify_all();
      if (failure != nullptr) return;
    }
  }

  /// False if the thread should stop.
  bool wait_for_room(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [this] { return ready_.size() < depth_; }) && !stop.stop_requested();
  }

  std::function<T(int64_t)> make_;
  size_t depth_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<T> ready_;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: stopped and joined before the members it uses are destroyed
};

}  // namespace attend::data
