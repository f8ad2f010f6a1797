#include "serve/connections.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iostream>

#include "attend/base/error.h"
#include "serve/answer.h"
#include "serve/framing.h"
#include "serve/listener.h"
#include "serve/refusal.h"
#include "serve/tls.h"

namespace attend::serve {
namespace {

constexpr size_t kChunk = 64 << 10;
constexpr auto kSweep = std::chrono::milliseconds(250);
constexpr auto kDrain = std::chrono::seconds(2);
constexpr auto kStopSweep = std::chrono::milliseconds(10);
constexpr auto kTaken = std::chrono::milliseconds(200);  // by then a client has read its answer
constexpr auto kFarewell = std::chrono::seconds(1);      // at the end, for who has not closed its connection by then
// Bodies that all clients together have sent and not finished, in bodies of the greatest size.
constexpr size_t kGatheredBodies = 64;
// Requests that are answered at once, of those that a client sends together, before others have their turn.
constexpr int kRounds = 4;
// Names of what is no client.
constexpr uint64_t kNobody = 0, kListener = 1, kMailbox = 2, kFirstClient = 3;

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

void add_watch(int events, int socket, uint64_t name, uint32_t wanted) {
  epoll_event event{};
  event.events = wanted, event.data.u64 = name;
  ::epoll_ctl(events, EPOLL_CTL_ADD, socket, &event);
}

void log_error(std::string_view message) { std::cerr << "attend serve: a connection: " + std::string(message) + "\n"; }

bool later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// The first byte that has come, which stays there.
Passed peek(int socket, char* first) {
  const ssize_t count = ::recv(socket, first, 1, MSG_PEEK);
  if (count > 0) return {Passed::State::moved, 1};
  return {count < 0 && later() ? Passed::State::later : Passed::State::ended};
}

/// An answer of the loop's own, after which the connection ends.
std::string short_answer(int status, std::string_view code, std::string_view message) {
  const std::string body = error_json(code, message);
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason_of(status)) +
         "\r\nContent-Type: application/json\r\nConnection: close\r\n" + (status == 503 ? "Retry-After: 1\r\n" : "") +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

Connections::Connections(const std::string& host, int64_t port, const Traffic& traffic, size_t body_bytes,
                         size_t handlers, Handle handle, Now now)
    : traffic_(traffic),
      body_bytes_(body_bytes),
      most_handlers_(handlers),
      handle_(std::move(handle)),
      quick_([](Exchange&) { return std::nullopt; }),
      now_(std::move(now)),
      listener_(listen_on(host, port)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      mailbox_(std::make_shared<Mailbox>()),
      port_(port_of(listener_.number())),
      last_(kFirstClient) {
  require(events_.number() >= 0, "serve: the system gave no epoll: ", std::strerror(errno));
  add_watch(events_.number(), listener_.number(), kListener, EPOLLIN);
  add_watch(events_.number(), mailbox_->descriptor(), kMailbox, EPOLLIN);
}

Connections::~Connections() { stop(); }

void Connections::start() {
  // Here, where the caller is told if the system has none.
  handlers_.emplace_back([this] { handle_requests(); });
  loop_ = std::thread([this] { loop(); });
}

void Connections::stop() {
  stopping_ = true;
  mailbox_->wake();
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

void Connections::cut() {
  cut_ = true;
  mailbox_->wake();
}

bool Connections::loopback() const { return is_loopback(listener_.number()); }

size_t Connections::waiting() const {
  const std::lock_guard lock(mutex_);
  return ready_.size();
}

/// What goes wrong with a connection (memory, mostly) ends it, and nothing else.
template <class Act>
void Connections::guarded(Id id, Act&& act) {
  try {
    act();
  } catch (const std::exception& error) {
    log_error(error.what());
    drop(id);
  }
}

void Connections::turn(std::span<const epoll_event> events) {
  for (const epoll_event& event : events) {
    const Id id = event.data.u64;
    if (id == kListener) {
      guarded(kNobody, [&] { accept_all(); });
    } else if (id != kMailbox) {
      guarded(id, [&] { happened(id, event.events); });
    }
  }
  take_mail();
}

void Connections::loop() {
  // OpenSSL writes as it likes; a client that is gone is no reason to end the program.
  sigset_t pipe;
  ::sigemptyset(&pipe), ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  mailbox_->belongs_here();
  std::array<epoll_event, 64> events;
  Clock::time_point swept = now_();
  for (;;) {
    const auto wait = stopping_ ? kStopSweep : kSweep;
    const int count = ::epoll_wait(events_.number(), events.data(), events.size(), static_cast<int>(wait.count()));
    guarded(kNobody, [&] { turn(std::span(events).first(static_cast<size_t>(std::max(0, count)))); });
    if (now_() - swept >= kSweep) guarded(kNobody, [&] { sweep(); }), swept = now_();
    if (!stopping_) continue;
    guarded(kNobody, [&] { end_of_loop(); });
    if (over()) return;
  }
}

bool Connections::over() const {
  const std::lock_guard lock(mutex_);
  return busy_ == 0 && ready_.empty() && mailbox_->empty() && clients_.empty();
}

/// Once stopping: nobody new. Whose request is there is answered, and all others are told.
void Connections::end_of_loop() {
  if (listener_.number() >= 0) {
    accept_all();  // who has connected before is answered if the request is there already
    ::epoll_ctl(events_.number(), EPOLL_CTL_DEL, listener_.number(), nullptr);
    listener_ = Descriptor();
  }
  std::vector<Id> all, reading;
  for (const auto& [id, client] : clients_) {
    all.push_back(id);
    if (client.reading()) reading.push_back(id);
  }
  if (cut_) {
    for (const Id id : all) drop(id);
    return;
  }
  for (const Id id : reading) {
    guarded(id, [&] {
      received(id);
      const auto left = clients_.find(id);
      if (left == clients_.end() || !left->second.reading()) return;
      if (left->second.answered && now_() - left->second.since < kTaken) return;
      dismiss(id, 503, "stopping", "the server is being stopped; try again in a moment");
    });
  }
  const Clock::time_point last = now_() + kFarewell;
  for (auto& [id, client] : clients_) {
    if (!client.exchange && client.outgoing.empty()) client.until = std::min(client.until, last);
  }
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
    Client client{.open = Counted(&counts_.open), .socket = Descriptor(socket)};
    client.address = address_of(address);
    ++counts_.accepted;
    add(std::move(client));
  }
}

/// Closes the client that has been waited for the longest, those who have asked nothing yet first; never one that is answered.
void Connections::make_room() {
  const Id* longest = nullptr;
  const Client* its = nullptr;
  const auto before = [](const Client& a, const Client& b) {
    return std::pair(!a.buffer.empty(), a.since) < std::pair(!b.buffer.empty(), b.since);
  };
  for (const auto& [id, client] : clients_) {
    if (!client.exchange && client.outgoing.empty() && (!its || before(client, *its))) longest = &id, its = &client;
  }
  if (longest) drop(Id(*longest));
}

void Connections::add(Client client) {
  if (open() > static_cast<size_t>(traffic_.connections)) make_room();
  if (open() > static_cast<size_t>(traffic_.connections)) {
    ++counts_.refused;
    if (tls_) return;  // without a handshake there is nothing that it could be told
    const std::string text = short_answer(503, "busy", "connections: all are in use; try again in a moment");
    (void)!::send(client.socket.number(), text.data(), text.size(), MSG_NOSIGNAL);
    return;
  }
  if (!tls_) client.channel = plain_channel(client.socket.number());
  const int socket = client.socket.number();
  const Id id = ++last_;
  client.watched = EPOLLIN | EPOLLRDHUP;
  clients_.emplace(id, std::move(client));
  add_watch(events_.number(), socket, id, EPOLLIN | EPOLLRDHUP);
  await_request(id);
}

/// Has the system tell what matters now of a client.
void Connections::watch(Id id) {
  Client& client = clients_.at(id);
  uint32_t wanted = client.hung_up ? 0 : uint32_t{EPOLLRDHUP};
  if (!client.exchange && client.outgoing.empty()) wanted |= EPOLLIN;
  if (!client.outgoing.empty()) wanted |= EPOLLOUT;
  if (client.channel && client.channel->wants() != 0) wanted = client.channel->wants() | (wanted & ~uint32_t{EPOLLOUT});
  if (wanted == client.watched) return;
  epoll_event event{};
  event.events = client.watched = wanted, event.data.u64 = id;
  ::epoll_ctl(events_.number(), EPOLL_CTL_MOD, client.socket.number(), &event);
}

/// From now on the client is waited for.
void Connections::await_request(Id id) {
  Client& client = clients_.at(id);
  client.since = now_();
  client.until = client.since + (client.draining         ? Clock::duration(kDrain)
                                 : client.buffer.empty() ? seconds(traffic_.idle_seconds)
                                                         : seconds(traffic_.read_seconds));
  watch(id);
}

void Connections::happened(Id id, uint32_t events) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  Client& client = found->second;
  if (client.draining) return throw_away(id);
  if (client.reading()) return received(id);
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return drop(id);
  if ((events & EPOLLRDHUP) != 0 && !std::exchange(client.hung_up, true) && client.exchange) client.exchange->hang_up();
  if (!client.outgoing.empty()) return flush(id);
  watch(id);
}

/// False as long as no byte says which it is.
bool Connections::find_channel(Client& client) {
  char first = 0;
  if (peek(client.socket.number(), &first).state != Passed::State::moved) return false;
  client.secure = Tls::begins(first);
  client.channel = client.secure ? tls_->channel(client.socket.number()) : plain_channel(client.socket.number());
  client.until = now_() + seconds(traffic_.read_seconds);  // for the handshake
  return true;
}

void Connections::received(Id id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  Client& client = found->second;
  if (!client.channel && find_channel(client) && !client.secure) {
    return dismiss(id, 400, "tls_required", "connection: expected TLS (https://…), got HTTP without it");
  }
  std::array<char, kChunk> bytes;
  const Passed passed = client.channel ? client.channel->read(bytes) : peek(client.socket.number(), bytes.data());
  if (passed.state == Passed::State::ended) return drop(id);
  if (passed.state == Passed::State::later) return watch(id);
  if (client.buffer.empty()) client.begun = now_(), client.until = client.begun + seconds(traffic_.read_seconds);
  client.buffer.append(bytes.data(), passed.bytes);
  gathered_ += passed.bytes;
  judge(id);
  const auto left = clients_.find(id);
  // Of what TLS has read ahead, the system tells nothing.
  if (left != clients_.end() && left->second.reading() && left->second.channel->ahead()) received(id);
}

/// What a client that is done with still sends; past TLS, which has ended.
void Connections::throw_away(Id id) {
  std::array<char, kChunk> bytes;
  const ssize_t count = ::recv(clients_.at(id).socket.number(), bytes.data(), bytes.size(), 0);
  if (count == 0 || (count < 0 && !later())) drop(id);
}

/// Hands a request over that is whole, and refuses one that can never be.
void Connections::judge(Id id) {
  Client& client = clients_.at(id);
  const Frame frame = find_frame(client.buffer, body_bytes_);
  if (frame.state == Frame::State::more && gathered_ <= kGatheredBodies * (body_bytes_ + kHeaderBytes)) {
    constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    if (frame.expects && !std::exchange(client.told, true)) (void)client.channel->write(kGoOn);
    return watch(id);
  }
  if (frame.state == Frame::State::more) {
    return dismiss(id, 503, "busy", "bodies: too many are being sent at once; try again in a moment");
  }
  if (frame.state == Frame::State::refused) return dismiss(id, frame.status, frame.code, frame.message);
  const bool last = frame.state == Frame::State::last;
  std::string request = client.buffer.substr(0, frame.bytes);
  gathered_ -= frame.bytes;
  client.buffer.erase(0, frame.bytes);
  if (client.buffer.empty()) client.buffer.shrink_to_fit();
  client.told = false;
  client.exchange = std::make_shared<Exchange>(mailbox_, id, client.address, std::move(request), last);
  client.exchange->secure = client.secure, client.exchange->begun = client.begun;
  hand_over(id, client.exchange);
}

void Connections::drop(Id id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  Client& client = found->second;
  gathered_ -= client.buffer.size();
  counts_.unsent -= client.unsent;
  if (client.exchange) client.exchange->leave();
  clients_.erase(found);  // closed, and so no longer watched
}

/// Tells a client why it is let go, and throws away what it still sends: closed with unread bytes, a connection would lose
/// the answer.
void Connections::dismiss(Id id, int status, std::string_view code, std::string_view message) {
  Client& client = clients_.at(id);
  if (!client.channel) return drop(id);
  ++counts_.dismissed;
  gathered_ -= client.buffer.size();
  client.buffer = {};
  if (client.exchange) client.exchange->leave(), client.exchange.reset();
  client.outgoing.push_back(short_answer(status, code, message));
  client.unsent += client.outgoing.back().size(), counts_.unsent += client.outgoing.back().size();
  client.next = Next::drain;
  client.until = now_() + kDrain;
  flush(id);
}

/// Says goodbye to those whose time is over; one that has begun a request is told why.
void Connections::sweep() {
  const Clock::time_point now = now_();
  std::vector<Id> late, answering;
  for (const auto& [id, client] : clients_) {
    const bool waits = client.exchange && client.outgoing.empty();  // for us
    if (!waits && client.until <= now) late.push_back(id);
    if (waits) answering.push_back(id);
  }
  for (const Id id : answering) guarded(id, [&] { collect(id); });  // had there been no memory for a message
  for (const Id id : late) {
    const Client& client = clients_.at(id);
    if (client.reading() && !client.buffer.empty()) {
      dismiss(id, 408, "slow_request", "request: expected all of it in time, got a part; send it faster");
    } else {
      if (!client.outgoing.empty()) ++counts_.dropped;
      drop(id);
    }
  }
}

void Connections::take_mail() {
  for (int round = 0; round < kRounds; ++round) {
    for (const Id id : mailbox_->take()) guarded(id, [&] { collect(id); });
  }
  if (!mailbox_->empty()) mailbox_->wake();
}

/// Sends what has been written since the last time.
void Connections::collect(Id id) {
  const auto found = clients_.find(id);
  if (found == clients_.end() || !found->second.exchange) return;
  Client& client = found->second;
  Exchange::Part part = client.exchange->take();
  if (client.outgoing.empty() && !part.written.empty()) client.until = now_() + seconds(traffic_.write_seconds);
  for (std::string& bytes : part.written) {
    client.unsent += bytes.size(), counts_.unsent += bytes.size();
    client.outgoing.push_back(std::move(bytes));
  }
  if (part.done) client.next = part.next;
  flush(id);
}

/// As much as the socket takes now.
void Connections::flush(Id id) {
  Client& client = clients_.at(id);
  while (!client.outgoing.empty()) {
    const std::string& bytes = client.outgoing.front();
    const Passed passed = client.channel->write(std::string_view(bytes).substr(client.sent));
    if (passed.state == Passed::State::ended) return drop(id);
    if (passed.state == Passed::State::later) break;
    client.sent += passed.bytes, client.unsent -= passed.bytes, counts_.unsent -= passed.bytes;
    if (client.exchange) client.exchange->sent(passed.bytes);
    if (client.sent == bytes.size()) client.outgoing.pop_front(), client.sent = 0;
  }
  if (client.outgoing.empty() && client.next) return answered(id);
  watch(id);
  if (!client.outgoing.empty()) give_way();
}

/// Who reads slowly holds memory: of all of them, the one that has had most time lets go of it where it becomes too much.
void Connections::give_way() {
  if (counts_.unsent <= static_cast<size_t>(traffic_.unsent_bytes)) return;
  Id longest = kNobody;
  size_t slow = 0;
  for (const auto& [id, client] : clients_) {
    if (client.outgoing.empty()) continue;
    ++slow;
    if (longest == kNobody || client.until < clients_.at(longest).until) longest = id;
  }
  if (slow > 1) ++counts_.dropped, drop(longest);  // one alone may have any answer that is allowed
}

/// All of the answer is sent.
void Connections::answered(Id id) {
  Client& client = clients_.at(id);
  const bool last = client.exchange && client.exchange->last;
  const Next next = last && client.next == Next::keep ? Next::drain : *client.next;
  client.exchange.reset(), client.next.reset();
  if (next == Next::close || (client.hung_up && client.buffer.empty())) return drop(id);
  client.answered = true;
  if (next == Next::drain) {
    client.channel->finish();
    client.draining = true;
    gathered_ -= client.buffer.size();
    client.buffer = {};
    return await_request(id);
  }
  client.begun = now_();
  await_request(id);
  if (!client.buffer.empty()) return judge(id);
  if (client.channel->ahead()) received(id);
}

void Connections::hand_over(Id id, std::shared_ptr<Exchange> exchange) {
  if (const std::optional<Next> next = quick_(*exchange)) return exchange->done(*next);
  {
    const std::lock_guard lock(mutex_);
    if (ready_.size() < most_handlers_) {
      ready_.push_back(std::move(exchange));
      if (idle_ < ready_.size() && handlers_.size() < most_handlers_) grow();
      came_.notify_one();
      watch(id);
      return;
    }
  }
  dismiss(id, 503, "busy", "requests: all hands are full; try again in a moment");
}

void Connections::grow() {
  try {
    handlers_.emplace_back([this] { handle_requests(); });
  } catch (const std::exception&) {
    // The system has no more threads: those that are there take one after the other.
  }
}

/// As handle_; whatever goes wrong ends the connection.
Next Connections::handled(Exchange& exchange) const {
  try {
    return handle_(exchange);
  } catch (const std::exception& error) {
    log_error(error.what());
  } catch (...) {
    log_error("an error without a name");
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
    std::shared_ptr<Exchange> exchange = std::move(ready_.front());
    ready_.pop_front();
    ++busy_;
    lock.unlock();
    const Next next = handled(*exchange);
    try {
      exchange->done(next);
    } catch (const std::exception& error) {  // no memory to tell; the loop looks by itself now and then
      log_error(error.what());
    }
    exchange.reset();
    lock.lock();
    --busy_;
    if (stopping_) mailbox_->wake();
  }
}

}  // namespace attend::serve
