// Ranks that are threads of one process, which talk through queues: what a company is to those who use one.
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "attend/train/company.h"

namespace attend::test {

class Post {
 public:
  using Address = std::tuple<int, int, int>;  // from, to, tag
  using Bytes = std::vector<std::byte>;

  void put(const Address& address, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    queues_[address].emplace_back(bytes.begin(), bytes.end());
    arrived_.notify_all();
  }
  Bytes take(const Address& address) {
    std::unique_lock lock(mutex_);
    std::deque<Bytes>& queue = queues_[address];
    arrived_.wait(lock, [&] { return !queue.empty(); });
    Bytes bytes = std::move(queue.front());
    queue.pop_front();
    return bytes;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<Address, std::deque<Bytes>> queues_;
};

class ThreadCompany : public train::Company {
 public:
  ThreadCompany(Post& post, int rank, int size) : post_(post), rank_(rank), size_(size) {}
  using Company::wait;
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  double sent() const override { return sent_; }
  Transfer send(std::span<const std::byte> bytes, int to, int tag) override {
    sent_ += static_cast<double>(bytes.size());
    post_.put({rank_, to, tag}, bytes);
    return 0;
  }
  Transfer receive(std::span<std::byte> bytes, int from, int tag) override {
    coming_.push_back({bytes, {from, rank_, tag}});
    return std::ssize(coming_);
  }
  Transfer broadcast(std::span<std::byte> bytes, int from) override {
    if (from != rank_) return receive(bytes, from, kTogether);
    for (int to = 0; to < size_; ++to) {
      if (to != rank_) send(bytes, to, kTogether);
    }
    return 0;
  }
  Transfer gather(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int> sizes) override {
    for (int to = 0; to < size_; ++to) {
      if (to != rank_) send(mine, to, kTogether);
    }
    for (int from = 0; from < size_; ++from) {
      const auto size = static_cast<size_t>(sizes[static_cast<size_t>(from)]);
      if (from == rank_) std::copy(mine.begin(), mine.end(), all.begin());
      if (from != rank_) wait(receive(all.first(size), from, kTogether));
      all = all.subspan(size);
    }
    return 0;
  }
  /// In the order in which they were asked for, as messages of one address are read.
  void wait(std::span<const Transfer> transfers) override {
    for (const Transfer one : transfers) {
      if (one == 0) continue;
      const auto& [place, address] = coming_.at(static_cast<size_t>(one) - 1);
      const Post::Bytes bytes = post_.take(address);
      if (bytes.size() != place.size()) throw Error("ThreadCompany: a message of another size");
      std::memcpy(place.data(), bytes.data(), bytes.size());
    }
  }

 private:
  static constexpr int kTogether = -1;
  struct Coming {
    std::span<std::byte> place;
    Post::Address address;
  };
  Post& post_;
  int rank_, size_;
  double sent_ = 0;
  std::vector<Coming> coming_;
};

/// Runs `body` as every rank at once.
inline void as_ranks(int size, const std::function<void(train::Company&)>& body) {
  Post post;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadCompany company(post, rank, size);
      body(company);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace attend::test
