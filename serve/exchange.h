// An exchange: a request that has come whole, and the way back for its answer. What is written waits in memory until the
// client takes it; the thread that writes does not.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "serve/clock.h"
#include "serve/descriptor.h"

namespace attend::serve {

/// What is done with a connection once the answer is sent.
enum class Next { keep, close, drain };

/// Which exchanges have something for the loop, and what wakes it.
class Mailbox {
 public:
  Mailbox();
  /// The calling thread is the loop, which need not be woken for what it posts itself.
  void belongs_here() { loop_ = std::this_thread::get_id(); }
  void post(uint64_t client);
  /// Those that were posted since the last time, each once.
  std::vector<uint64_t> take();
  void wake();
  int descriptor() const { return event_.number(); }
  bool empty() const;

 private:
  Descriptor event_;
  std::atomic<std::thread::id> loop_{};
  std::atomic<bool> woken_{false};
  mutable std::mutex mutex_;
  std::vector<uint64_t> posted_;
};

class Exchange {
 public:
  Exchange(std::shared_ptr<Mailbox> mailbox, uint64_t client, std::string address, std::string request, bool last)
      : address(std::move(address)),
        request(std::move(request)),
        last(last),
        mailbox_(std::move(mailbox)),
        client_(client) {}

  const std::string address;
  const std::string request;  ///< its head and its body
  const bool last;            ///< no request can follow it
  bool secure = false;        ///< came through TLS
  Clock::time_point begun{};  ///< when its first byte came

  // The side of whoever answers.
  /// False: the client is gone, and nobody will read it.
  bool write(std::string bytes);
  /// Bytes that were written, and that the client has not taken yet.
  size_t unsent() const { return unsent_.load(); }
  bool gone() const;
  /// Called once the client hangs up (now, if it has), by the thread of the loop: it must neither wait nor throw.
  void when_gone(std::function<void()> act);
  /// The answer is complete; nothing is written any more.
  void done(Next next);

  // The side of the loop.
  struct Part {
    std::deque<std::string> written;
    bool done = false;
    Next next = Next::close;
  };
  Part take();
  void sent(size_t bytes) { unsent_ -= bytes; }
  /// The client wants no answer, but may still take one.
  void hang_up();
  /// Nothing can be sent any more.
  void leave();

 private:
  const std::shared_ptr<Mailbox> mailbox_;
  const uint64_t client_;
  std::atomic<size_t> unsent_{0};
  mutable std::mutex mutex_;
  Part part_;
  bool hung_up_ = false, gone_ = false;
  std::vector<std::function<void()>> acts_;
};

}  // namespace attend::serve
