// What was made once and is needed again, as long as there is room for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace attend::data {

/// Values by number, up to a bound in bytes. Nothing is ever dropped for something newer: an epoch asks for all in turn, so that
/// whatever had been dropped would be needed before what took its place. May be used from several threads.
template <class T>
class BoundedCache {
 public:
  explicit BoundedCache(size_t most_bytes) : most_(most_bytes) {}

  /// The value of that number: the one that is kept, or make(), which is kept if its size_of(value) bytes fit.
  template <class Make, class SizeOf>
  std::shared_ptr<const T> get(int64_t number, Make&& make, SizeOf&& size_of) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = kept_.find(number); found != kept_.end()) return found->second;
    }
    auto value = std::make_shared<const T>(make());  // not under the lock: others need not wait for it
    const size_t bytes = size_of(*value);
    const std::lock_guard lock(mutex_);
    if (bytes > most_ - bytes_) return value;
    const auto [place, fresh] = kept_.try_emplace(number, value);
    if (fresh) bytes_ += bytes;
    return place->second;
  }

  size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  size_t most_, bytes_ = 0;
  mutable std::mutex mutex_;
  std::unordered_map<int64_t, std::shared_ptr<const T>> kept_;
};

}  // namespace attend::data
