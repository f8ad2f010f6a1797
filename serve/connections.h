// Connections: one thread accepts them, gathers their requests and sends what they are answered. Only a whole request is given
// to a thread that handles it, and only until its answer is made: a client that sends or reads slowly, or does neither, holds a
// socket and its bytes, never a thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "serve/channel.h"
#include "serve/clock.h"
#include "serve/descriptor.h"
#include "serve/exchange.h"
#include "serve/options.h"

struct epoll_event;

namespace attend::serve {

class Tls;

/// One connection: what has come and was not handled yet, and what has been answered and was not sent yet.
struct Client {
  Counted open;
  Descriptor socket;
  std::unique_ptr<Channel> channel;  ///< none before the first byte says whether it speaks TLS
  std::string address;
  std::string buffer;
  std::deque<std::string> outgoing;
  size_t sent = 0, unsent = 0;         ///< bytes of the first of them that went; bytes of all of them that did not
  std::shared_ptr<Exchange> exchange;  ///< the request that is being answered
  std::optional<Next> next;            ///< known once the answer is complete
  uint32_t watched = 0;                ///< events of its socket
  bool secure = false;
  bool told = false;      ///< to go on sending
  bool hung_up = false;   ///< nothing more will come
  bool answered = false;  ///< at the time `since`
  bool draining = false;  ///< answered and done with: what still comes is thrown away until the client has seen it
  Clock::time_point since = {}, begun = {}, until = {};

  /// Neither asked nor answered anything now.
  bool reading() const { return !exchange && outgoing.empty() && !draining; }
};

/// What the connections have seen so far, and hold now. Refused: for lack of room; dismissed: with a word why, such as what is no
/// request; dropped: too slow to read.
struct ConnectionCounts {
  std::atomic<size_t> open{0}, accepted{0}, refused{0}, dismissed{0}, dropped{0};
  std::atomic<size_t> unsent{0};  ///< bytes of answers
};

class Connections {
 public:
  /// Answers the request of the exchange, by a thread of its own.
  using Handle = std::function<Next(Exchange& exchange)>;
  /// Answers it at once, by the thread of the loop; nothing: that would take too long.
  using Quick = std::function<std::optional<Next>(Exchange& exchange)>;

  /// Listens, but does not answer before start(). Throws Error where it cannot. `handlers`: most requests at once; as many
  /// more may wait for one to be free. `now`: the clock by which clients are idle or slow.
  Connections(const std::string& host, int64_t port, const Traffic& traffic, size_t body_bytes, size_t handlers,
              Handle handle, Now now = Clock::now);
  /// As stop().
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Before start():
  void answer_at_once(Quick quick) { quick_ = std::move(quick); }
  /// Whoever connects has to speak TLS, and is told so in plain HTTP otherwise. `tls` must outlive it.
  void encrypt(Tls& tls) { tls_ = &tls; }

  void start();
  /// No new ones; waits for the requests that are being handled. Who asks for nothing is told that the server stops (503), so
  /// that a client that uses its connection once more finds that answer, and has a moment to take it. Who was answered just
  /// now may still ask, and is told a moment later: many clients throw away what comes together with the answer before it.
  void stop();
  /// Lets go of those for whom stop() still waits, whether they have their answer or not.
  void cut();
  int port() const { return port_; }
  /// Whether only this machine can reach it.
  bool loopback() const;
  bool stopping() const { return stopping_.load(); }
  size_t open() const { return counts_.open.load(); }
  /// Whole requests that wait for a handler.
  size_t waiting() const;
  const ConnectionCounts& counts() const { return counts_; }

 private:
  using Id = uint64_t;

  void loop();
  void turn(std::span<const epoll_event> events);
  template <class Act>
  void guarded(Id id, Act&& act);
  void happened(Id id, uint32_t events);
  void accept_all();
  void make_room();
  void add(Client client);
  void watch(Id id);
  void await_request(Id id);
  bool find_channel(Client& client);
  void received(Id id);
  void throw_away(Id id);
  void judge(Id id);
  void drop(Id id);
  void dismiss(Id id, int status, std::string_view code, std::string_view message);
  void sweep();
  void take_mail();
  void collect(Id id);
  void flush(Id id);
  void give_way();
  void answered(Id id);
  void end_of_loop();
  bool over() const;
  void hand_over(Id id, std::shared_ptr<Exchange> exchange);
  void grow();
  void handle_requests();
  Next handled(Exchange& exchange) const;

  const Traffic traffic_;
  const size_t body_bytes_, most_handlers_;
  const Handle handle_;
  Quick quick_;
  Tls* tls_ = nullptr;
  const Now now_;
  Descriptor listener_, events_;
  const std::shared_ptr<Mailbox> mailbox_;
  int port_ = 0;
  std::atomic<bool> stopping_{false}, cut_{false};
  ConnectionCounts counts_;

  // Of the loop alone.
  std::unordered_map<Id, Client> clients_;
  Id last_ = 0;
  size_t gathered_ = 0;
  std::thread loop_;

  // Between the loop and the handlers.
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::shared_ptr<Exchange>> ready_;
  size_t busy_ = 0, idle_ = 0;
  bool ended_ = false;
  std::vector<std::thread> handlers_;
};

}  // namespace attend::serve
