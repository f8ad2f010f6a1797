#include "serve/connections.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>

#include "attend/base/error.h"
#include "serve/framing.h"
#include "serve/refusal.h"

namespace attend::serve {
namespace {

constexpr int kBacklog = 511;
constexpr size_t kChunk = 64 << 10;
constexpr auto kSweep = std::chrono::milliseconds(250);
constexpr auto kDrain = std::chrono::seconds(2);
constexpr auto kStopSweep = std::chrono::milliseconds(10);
constexpr auto kTaken = std::chrono::milliseconds(200);  // by then a client has read its answer
constexpr auto kFarewell = std::chrono::seconds(1);  // at the end, for who has not closed its connection by then
// Bodies that all clients together have sent and not finished, in bodies of the greatest size.
constexpr size_t kGatheredBodies = 64;

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const std::string& host, int64_t port, const std::string& where) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  require_usage(error == 0, where,
                ": expected an address of this machine (--host 127.0.0.1), got none: ", ::gai_strerror(error));
  return {found, &::freeaddrinfo};
}

Descriptor listen_on(const std::string& host, int64_t port) {
  const std::string where = "cannot listen on " + host + ":" + std::to_string(port);
  const Addresses addresses = resolve(host, port, where);
  int error = 0;
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
    Descriptor socket(::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one->ai_protocol));
    const int on = 1;
    ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (socket.number() >= 0 && ::bind(socket.number(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(socket.number(), kBacklog) == 0) {
      return socket;
    }
    error = errno;
  }
  const char* advice = error == EADDRINUSE ? "; --port 0 takes one that is free" : "";
  fail(where, ": ", std::strerror(error), advice);
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

std::string address_of(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* bytes = address.ss_family == AF_INET6
                          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
                          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  return ::inet_ntop(address.ss_family, bytes, text, sizeof(text)) != nullptr ? text : "";
}

void watch(int events, int socket, bool on) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = socket;
  ::epoll_ctl(events, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, socket, &event);
}

void log(std::string_view message) { std::cerr << "attend serve: a connection: " + std::string(message) + "\n"; }

const char* reason_of(int status) {
  return status == 400   ? "Bad Request"
         : status == 408 ? "Request Timeout"
         : status == 431 ? "Headers Too Large"
                         : "Busy";
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Connections::Connections(const std::string& host, int64_t port, const Traffic& traffic, size_t body_bytes,
                         size_t handlers, Handle handle, Now now)
    : traffic_(traffic),
      body_bytes_(body_bytes),
      most_handlers_(handlers),
      handle_(std::move(handle)),
      now_(std::move(now)),
      listener_(listen_on(host, port)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      port_(port_of(listener_.number())) {
  require(events_.number() >= 0 && wake_.number() >= 0, "serve: the system gave no epoll: ", std::strerror(errno));
  watch(events_.number(), listener_.number(), true);
  watch(events_.number(), wake_.number(), true);
}

Connections::~Connections() { stop(); }

void Connections::start() {
  // Here, where the caller is told if the system has none.
  handlers_.emplace_back([this] { handle_requests(); });
  loop_ = std::thread([this] { loop(); });
}

void Connections::stop() {
  stopping_ = true;
  wake();
  if (loop_.joinable()) loop_.join();
  clients_.clear();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  came_.notify_all();
  for (std::thread& handler : handlers_) handler.join();
  handlers_.clear();
}

bool Connections::loopback() const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  ::getsockname(listener_.number(), reinterpret_cast<sockaddr*>(&address), &size);
  if (address.ss_family == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<sockaddr_in6&>(address).sin6_addr);
  return (ntohl(reinterpret_cast<sockaddr_in&>(address).sin_addr.s_addr) >> 24) == 127;
}

std::string client_of(const std::string& address) {
  in6_addr bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), &bytes) != 1 || IN6_IS_ADDR_V4MAPPED(&bytes)) return address;
  std::fill(std::begin(bytes.s6_addr) + 8, std::end(bytes.s6_addr), uint8_t{0});
  char text[INET6_ADDRSTRLEN] = "";
  return ::inet_ntop(AF_INET6, &bytes, text, sizeof(text)) != nullptr ? text : address;
}

size_t Connections::waiting() const {
  const std::lock_guard lock(mutex_);
  return ready_.size();
}

void Connections::cut() {
  const std::lock_guard lock(mutex_);
  cut_ = true;
  for (const int socket : handled_) ::shutdown(socket, SHUT_RDWR);
  wake();
}

void Connections::wake() const {
  const uint64_t one = 1;
  (void)!::write(wake_.number(), &one, sizeof(one));
}

/// What goes wrong with a connection (memory, mostly) ends it, and nothing else.
template <class Act>
void Connections::guarded(int socket, Act&& act) {
  try {
    act();
  } catch (const std::exception& error) {
    log(error.what());
    drop(socket);
  }
}

void Connections::turn(std::span<const epoll_event> events) {
  for (const epoll_event& event : events) {
    const int socket = event.data.fd;
    if (socket == listener_.number()) {
      guarded(-1, [&] { accept_all(); });
    } else if (socket != wake_.number()) {
      guarded(socket, [&] { received(socket); });
    }
  }
  take_back();
}

void Connections::loop() {
  std::array<epoll_event, 64> events;
  Clock::time_point swept = now_();
  for (;;) {
    const auto wait = stopping_ ? kStopSweep : kSweep;
    const int count = ::epoll_wait(events_.number(), events.data(), events.size(), static_cast<int>(wait.count()));
    guarded(-1, [&] { turn(std::span(events).first(static_cast<size_t>(std::max(0, count)))); });
    if (now_() - swept >= kSweep) guarded(-1, [&] { sweep(); }), swept = now_();
    if (!stopping_) continue;
    guarded(-1, [&] { end_of_loop(); });
    const std::lock_guard lock(mutex_);
    if (busy_ == 0 && ready_.empty() && back_.empty() && (clients_.empty() || cut_)) return;
  }
}

/// Once stopping: nobody new. Whose request is there is answered, and all others are told.
void Connections::end_of_loop() {
  if (listener_.number() >= 0) {
    accept_all();  // who has connected before is answered if the request is there already
    watch(events_.number(), listener_.number(), false);
    listener_ = Descriptor();
  }
  std::vector<int> sockets;
  for (const auto& [socket, client] : clients_) {
    if (!client.draining) sockets.push_back(socket);
  }
  for (const int socket : sockets) {
    guarded(socket, [&] {
      received(socket);
      const auto left = clients_.find(socket);
      if (left == clients_.end() || left->second.draining) return;
      if (left->second.answered && now_() - left->second.since < kTaken) return;
      dismiss(socket, 503, "stopping", "the server is being stopped; try again in a moment");
    });
  }
  const Clock::time_point last = now_() + kFarewell;
  for (auto& [socket, client] : clients_) client.until = std::min(client.until, last);
}

void Connections::accept_all() {
  for (;;) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    const int socket =
        ::accept4(listener_.number(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0 && (errno == ECONNABORTED || errno == EINTR)) continue;
    if (socket < 0) {
      // Out of descriptors: somebody idle gives theirs, or all wait for a moment.
      if (errno == EMFILE || errno == ENFILE) make_room(), std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    Client client{.open = Counted(&open_), .socket = Descriptor(socket)};
    client.address = address_of(address);
    add(std::move(client));
  }
}

/// Closes the client that has been waited for the longest, those who have asked nothing yet first.
void Connections::make_room() {
  const auto before = [](const auto& a, const auto& b) {
    return std::pair(!a.second.buffer.empty(), a.second.since) < std::pair(!b.second.buffer.empty(), b.second.since);
  };
  const auto longest = std::min_element(clients_.begin(), clients_.end(), before);
  if (longest != clients_.end()) drop(longest->first);
}

void Connections::add(Client client) {
  if (open_ > static_cast<size_t>(traffic_.connections)) make_room();
  if (open_ > static_cast<size_t>(traffic_.connections)) {
    return refuse_client(client, 503, "busy", "connections: all are in use; try again in a moment");
  }
  wait_for(std::move(client));
}

void Connections::wait_for(Client client) {
  const int socket = client.socket.number();
  client.since = now_();
  client.until = client.since + (client.draining         ? Clock::duration(kDrain)
                                 : client.buffer.empty() ? seconds(traffic_.idle_seconds)
                                                         : seconds(traffic_.read_seconds));
  const size_t bytes = client.buffer.size();
  clients_.insert_or_assign(socket, std::move(client));
  gathered_ += bytes;
  watch(events_.number(), socket, true);
}

void Connections::received(int socket) {
  const auto found = clients_.find(socket);
  if (found == clients_.end()) return;
  Client& client = found->second;
  std::array<char, kChunk> bytes;
  const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (count <= 0) return drop(socket);
  if (client.draining) return;
  if (client.buffer.empty()) client.until = now_() + seconds(traffic_.read_seconds);
  client.buffer.append(bytes.data(), static_cast<size_t>(count));
  gathered_ += static_cast<size_t>(count);
  judge(socket);
}

/// Hands a client over whose request is whole, and refuses one that can have none.
void Connections::judge(int socket) {
  Client& client = clients_.at(socket);
  const Frame frame = find_frame(client.buffer, body_bytes_);
  if (frame.state == Frame::State::more && gathered_ <= kGatheredBodies * (body_bytes_ + kHeaderBytes)) {
    if (frame.expects && !std::exchange(client.told, true)) {
      constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
      (void)!::send(socket, kGoOn.data(), kGoOn.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    return;
  }
  if (frame.state == Frame::State::more) {
    return dismiss(socket, 503, "busy", "bodies: too many are being sent at once; try again in a moment");
  }
  if (frame.state == Frame::State::refused) return dismiss(socket, frame.status, frame.code, frame.message);
  Client whole = std::move(client);
  gathered_ -= whole.buffer.size();
  watch(events_.number(), socket, false);
  clients_.erase(socket);
  whole.frame = frame.bytes;
  whole.last = frame.state == Frame::State::last;
  hand_over(std::move(whole));
}

void Connections::drop(int socket) {
  const auto found = clients_.find(socket);
  if (found == clients_.end()) return;
  gathered_ -= found->second.buffer.size();
  watch(events_.number(), socket, false);
  clients_.erase(found);
}

/// Tells a client why it is let go, and throws away what it still sends: closed with unread bytes, a connection would lose
/// the answer.
void Connections::dismiss(int socket, int status, std::string_view code, std::string_view message) {
  Client& client = clients_.at(socket);
  refuse_client(client, status, code, message);
  gathered_ -= client.buffer.size();
  client.buffer = {};
  client.draining = true;
  client.until = now_() + kDrain;
}

/// Says goodbye to those whose time is over; one that has begun a request is told why.
void Connections::sweep() {
  const Clock::time_point now = now_();
  std::vector<int> late;
  for (const auto& [socket, client] : clients_) {
    if (client.until <= now) late.push_back(socket);
  }
  for (const int socket : late) {
    if (clients_.at(socket).buffer.empty()) {
      drop(socket);
    } else {
      dismiss(socket, 408, "slow_request", "request: expected all of it in time, got a part; send it faster");
    }
  }
}

/// From the handlers, for their next request.
void Connections::take_back() {
  uint64_t count = 0;
  (void)!::read(wake_.number(), &count, sizeof(count));
  std::deque<Client> back;
  {
    const std::lock_guard lock(mutex_);
    back.swap(back_);
  }
  for (Client& client : back) {
    const int socket = client.socket.number();
    const bool more = !client.buffer.empty() && !client.draining;
    client.answered = true;
    guarded(socket, [&] {
      wait_for(std::move(client));
      if (more) judge(socket);
    });
  }
}

/// A short answer of the loop's own. It never waits: what does not fit into the socket's buffer is lost.
void Connections::refuse_client(Client& client, int status, std::string_view code, std::string_view message) {
  const std::string body = error_json(code, message);
  const std::string text = "HTTP/1.1 " + std::to_string(status) + " " + reason_of(status) +
                           "\r\nContent-Type: application/json\r\nConnection: close\r\n" +
                           (status == 503 ? "Retry-After: 1\r\n" : "") +
                           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  const int socket = client.socket.number();
  (void)!::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket, SHUT_WR);
  std::array<char, kChunk> rest;  // unread bytes would make the system throw the answer away
  (void)!::recv(socket, rest.data(), rest.size(), MSG_DONTWAIT);
}

void Connections::hand_over(Client client) {
  {
    const std::lock_guard lock(mutex_);
    if (ready_.size() < most_handlers_) {
      ready_.push_back(std::move(client));
      if (idle_ < ready_.size() && handlers_.size() < most_handlers_) grow();
      came_.notify_one();
      return;
    }
  }
  refuse_client(client, 503, "busy", "requests: all hands are full; try again in a moment");
}

void Connections::grow() {
  try {
    handlers_.emplace_back([this] { handle_requests(); });
  } catch (const std::exception&) {
    // The system has no more threads: those that are there take one after the other.
  }
}

/// As handle_; whatever goes wrong ends the connection.
Next Connections::handled(Client& client) const {
  try {
    return handle_(client);
  } catch (const std::exception& error) {
    log(error.what());
  } catch (...) {
    log("an error without a name");
  }
  return Next::close;
}

void Connections::handle_requests() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    came_.wait(lock, [&] { return ended_ || !ready_.empty(); });
    --idle_;
    if (ready_.empty()) return;
    std::optional<Client> client(std::move(ready_.front()));
    ready_.pop_front();
    const int socket = client->socket.number();
    ++busy_;
    handled_.insert(socket);
    if (cut_) ::shutdown(socket, SHUT_RDWR);
    lock.unlock();
    const Next next = handled(*client);
    client->buffer.erase(0, client->frame);
    client->frame = 0, client->told = false;
    client->draining = next == Next::drain;
    if (client->draining) ::shutdown(socket, SHUT_WR), client->buffer.clear();
    lock.lock();
    --busy_;
    handled_.erase(socket);
    try {
      if (next != Next::close) back_.push_back(std::move(*client));
    } catch (const std::exception& error) {
      log(error.what());
    }
    client.reset();
    wake();
  }
}

}  // namespace attend::serve
