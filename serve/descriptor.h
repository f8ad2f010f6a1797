// What ends with its owner: file descriptors, and places among a number of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace attend::serve {

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  int number() const { return number_; }

 private:
  int number_;
};

/// One of so many, for as long as it lives.
class Counted {
 public:
  explicit Counted(std::atomic<size_t>* count = nullptr) : count_(count) {
    if (count_) ++*count_;
  }
  Counted(Counted&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  Counted& operator=(Counted&& other) noexcept {
    std::swap(count_, other.count_);
    return *this;
  }
  ~Counted() {
    if (count_) --*count_;
  }

 private:
  std::atomic<size_t>* count_;
};

}  // namespace attend::serve
