// Connections: one thread accepts them and gathers their requests; a whole request is then given to a thread that handles
// it. A client that sends slowly, or nothing, holds a socket and its bytes, never a thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "serve/clock.h"
#include "serve/options.h"

struct epoll_event;

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

/// One connection, with what has come and was not handled yet.
struct Client {
  Counted open;
  Descriptor socket;
  std::string address;
  std::string buffer;
  size_t frame = 0;       ///< bytes of the request at the front of the buffer
  bool last = false;      ///< no request can follow it
  bool told = false;      ///< to go on sending
  bool answered = false;  ///< at the time `since`
  bool draining = false;  ///< answered and done with: what still comes is thrown away until the client has seen it
  Clock::time_point since = {}, until = {};
};

/// Who is meant by an address: those of one network of IPv6 (/64), of which a single machine has any number, are one client.
std::string client_of(const std::string& address);

/// What is done with a request.
enum class Next { keep, close, drain };

class Connections {
 public:
  /// Handles the request client.buffer[0, frame).
  using Handle = std::function<Next(Client& client)>;

  /// Listens, but does not answer before start(). Throws Error where it cannot. `handlers`: most requests at once; as many
  /// more may wait for one to be free. `now`: the clock by which clients are idle or slow.
  Connections(const std::string& host, int64_t port, const Traffic& traffic, size_t body_bytes, size_t handlers,
              Handle handle, Now now = Clock::now);
  /// As stop().
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  void start();
  /// No new ones; waits for the requests that are being handled. Who asks for nothing is told that the server stops (503), so
  /// that a client that uses its connection once more finds that answer, and has a moment to take it. Who was answered just
  /// now may still ask, and is told a moment later: many clients throw away what comes together with the answer before it.
  void stop();
  /// Closes what stop() still waits for, under the hands of those who handle it.
  void cut();
  int port() const { return port_; }
  /// Whether only this machine can reach it.
  bool loopback() const;
  bool stopping() const { return stopping_.load(); }
  size_t open() const { return open_.load(); }
  /// Whole requests that wait for a handler.
  size_t waiting() const;

 private:
  void loop();
  void turn(std::span<const epoll_event> events);
  template <class Act>
  void guarded(int socket, Act&& act);
  void accept_all();
  void make_room();
  void add(Client client);
  void wait_for(Client client);
  void received(int socket);
  void judge(int socket);
  void drop(int socket);
  void dismiss(int socket, int status, std::string_view code, std::string_view message);
  void sweep();
  void take_back();
  void end_of_loop();
  void hand_over(Client client);
  void refuse_client(Client& client, int status, std::string_view code, std::string_view message);
  void grow();
  void handle_requests();
  Next handled(Client& client) const;
  void wake() const;

  const Traffic traffic_;
  const size_t body_bytes_, most_handlers_;
  const Handle handle_;
  const Now now_;
  Descriptor listener_, events_, wake_;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> open_{0};

  // Of the loop alone.
  std::unordered_map<int, Client> clients_;
  size_t gathered_ = 0;
  std::thread loop_;

  // Between the loop and the handlers.
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Client> ready_, back_;
  size_t busy_ = 0, idle_ = 0;
  bool ended_ = false, cut_ = false;
  std::unordered_set<int> handled_;  // sockets
  std::vector<std::thread> handlers_;
};

}  // namespace attend::serve
